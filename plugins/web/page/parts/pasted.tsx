/**
 * Shows how a pasted text was understood: each link with its kind and whether its target is in the archive, and the
 * words that are not links.
 */
import type { IconNode } from 'lucide'
import { Link2Off, ListVideo, SquarePlay, TvMinimalPlay } from 'lucide'
import { under } from '../server/base.ts'
import type { LinkLookup, Target } from '../server/records.ts'
import type { Reading, Understood } from '../stores/identify-links.ts'
import { useLinkPreview } from '../stores/link-preview.ts'
import { toBytes, toSpan } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'

const ICONS: Record<Target['type'], IconNode> = { video: SquarePlay, channel: TvMinimalPlay, playlist: ListVideo }
/** Maximum number of links that are shown one by one; of the others, only the number is shown. */
const MOST_SHOWN = 6

export function Pasted({ reading, isLinked = true }: { reading: Reading; isLinked?: boolean }) {
  const { understood, others, nobody } = reading
  return (
    <ul class="pasted" aria-live="polite">
      {understood.slice(0, MOST_SHOWN).map((one) => (
        <One key={one.word} one={one} isLinked={isLinked} />
      ))}
      {understood.length > MOST_SHOWN && (
        <li class="hint">{t('pasted.more', { count: understood.length - MOST_SHOWN })}</li>
      )}
      {nobody.length > 0 && (
        <li class="pasted-none">
          <Icon node={Link2Off} />
          <span>{t('pasted.nobody', { count: nobody.length, words: shown(nobody) })}</span>
        </li>
      )}
      {others.length > 0 && (
        <li class="pasted-none">
          <Icon node={Link2Off} />
          <span>{t('pasted.none', { count: others.length, words: shown(others) })}</span>
        </li>
      )}
    </ul>
  )
}

const MOST_WORD = 40
const shown = (words: readonly string[]): string =>
  words
    .slice(0, 3)
    .map((word) => `“${word.length > MOST_WORD ? `${word.slice(0, MOST_WORD)}…` : word}”`)
    .join(', ') + (words.length > 3 ? ' …' : '')

function One({ one, isLinked }: { one: Understood; isLinked: boolean }) {
  const { target } = one
  const preview = useLinkPreview(one)
  return (
    <li>
      <span class="pasted-picture">
        {preview?.picture ? (
          <img src={preview.picture} alt="" width={80} height={45} />
        ) : (
          <Icon node={ICONS[target.type]} />
        )}
      </span>
      <div class="pasted-words">
        <span class="pasted-line">
          <span class="pasted-kind">{t(`pasted.${target.type}`)}</span>
          <span class="pasted-name" title={preview?.title}>
            {preview?.title ?? one.name ?? target.id}
          </span>
        </span>
        {preview?.offered && <span class="meta">{factsOf(preview.offered)}</span>}
      </div>
      {target.known &&
        (isLinked ? (
          <a class="link" href={under(`/${target.type}/${encodeURIComponent(target.id)}/`)}>
            {t('pasted.known')}
          </a>
        ) : (
          <span class="meta">{t('pasted.known')}</span>
        ))}
    </li>
  )
}

/** Channel, number of videos, duration, size. */
function factsOf({ type, channel_name: channel, count, is_more: isMore, duration, bytes }: LinkLookup): string {
  const facts = [
    channel,
    type !== 'video' && t('count.videos', { count: isMore ? { moreThan: count } : count }),
    duration && toSpan(duration),
    bytes && t('pasted.size', { size: toBytes(bytes) }),
  ]
  // If only a part was read, total duration and size are unknown.
  return facts
    .slice(0, isMore ? 2 : 4)
    .filter(Boolean)
    .join(' · ')
}
