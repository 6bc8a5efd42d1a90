/** A horizontally scrolling row of videos, with arrow buttons. */

import { along } from '../browser/keys.ts'
import { VideoCard } from './video-card.tsx'
import { GhostCard } from './video-list.tsx'
import type { VideoRow } from './video-row.ts'
import { toggleWatched } from './watched.ts'

export function Strip({ label, rows }: { label: string; rows: readonly VideoRow[] }) {
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 'nextElementSibling', ArrowLeft: 'previousElementSibling' }[
      along(event.key, event.currentTarget as Element)
    ] as 'nextElementSibling' | undefined
    const to = step && (event.target as Element).closest('li')?.[step]
    if (!to) return
    event.preventDefault()
    to.querySelector<HTMLElement>('.card-title a')?.focus()
  }
  return (
    <ul class="strip" aria-label={label} onKeyDown={onKeyDown}>
      {rows.map((row) => (
        <li key={row.id}>
          <VideoCard row={row} onWatched={(one) => void toggleWatched(one)} />
        </li>
      ))}
    </ul>
  )
}

export const GhostStrip = () => (
  <ul class="strip" aria-hidden="true">
    {Array.from({ length: 6 }, (_, position) => (
      <li key={position}>
        <GhostCard />
      </li>
    ))}
  </ul>
)
