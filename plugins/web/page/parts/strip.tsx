/** A row of videos that is moved sideways: by finger, wheel, or arrows. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { toggleWatched } from './video-list.tsx'
import { VideoCard, type VideoRow } from './video-card.tsx'

export function Strip({ label, rows: given }: { label: string; rows: readonly VideoRow[] }) {
  const rows = useSignal(given)
  useEffect(() => void (rows.value = given), [given])
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 'nextElementSibling', ArrowLeft: 'previousElementSibling' }[event.key] as 'nextElementSibling' | undefined
    const to = step && (event.target as Element).closest('li')?.[step]
    if (!to) return
    event.preventDefault()
    to.querySelector<HTMLElement>('.card-title a')?.focus()
  }
  return (
    <ul class="strip" aria-label={label} onKeyDown={onKeyDown}>
      {rows.value.map((row) => (
        <li key={row.id}>
          <VideoCard row={row} onWatched={(one) => void toggleWatched(one, { change: (id, how) => void (rows.value = rows.value.map((each) => (each.id === id ? how(each) : each))) })} />
        </li>
      ))}
    </ul>
  )
}
