/** The round picture of a channel; its first letter while the picture is loading or if it is missing. */
import { useState } from 'preact/hooks'
import { small, under } from '../server/base.ts'

const letters = new Intl.Segmenter()

export function Portrait({ url, name, size }: { url: string; name: string; size: number }) {
  const [isThere, setThere] = useState(false)
  const [{ segment: first = '' } = {}] = letters.segment(name.trim())
  return (
    <span
      class="portrait"
      style={{ width: `${size}px`, height: `${size}px`, fontSize: `${Math.round(size * 0.42)}px` }}
      aria-hidden="true"
    >
      {!isThere && first.toUpperCase()}
      <img
        src={size > 160 ? under(url) : small(url)}
        alt=""
        width={size}
        height={size}
        loading="lazy"
        decoding="async"
        class={isThere ? '' : 'coming'}
        // Pictures of channels are square; the server's substitute for a missing picture is not.
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
          setThere(Math.abs(naturalWidth - naturalHeight) <= 2)
        }
      />
    </span>
  )
}
