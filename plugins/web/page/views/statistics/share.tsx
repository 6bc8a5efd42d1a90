/** A bar whose parts together are the whole, with a legend. */
import { toPercent } from '../../texts/format.ts'

export function Share({
  title,
  parts,
}: {
  title: string
  parts: Array<{ label: string; share: number; text: string }>
}) {
  return (
    <div class="share">
      <h3>{title}</h3>
      <div class="share-bar" aria-hidden="true">
        {parts.map(
          ({ label, share }, at) => share > 0 && <span key={label} style={{ flexGrow: share }} class={`part-${at}`} />,
        )}
      </div>
      <dl>
        {parts.map(({ label, share, text }, position) => (
          <div key={label}>
            <dt>
              <span class={`swatch part-${position}`} aria-hidden="true" />
              {label}
            </dt>
            <dd>
              <strong>{toPercent(share)}</strong> <span class="meta">{text}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}
