/** Seek previews: requested at the first play, and polled while they are missing. */
import { signal } from '@preact/signals'
import { get, post } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { SeekPreviews } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import type { Deck } from './deck.ts'

/** Minimum time between two polls. Previews are made during playback. */
const POLL_MS = 10_000

/** The position of a preview in its sheet. */
export interface PreviewPicture {
  url: string
  width: number
  height: number
  left: number
  top: number
}

export function openPreviews(deck: Deck) {
  const path = `/api/video/${deck.video.platform_id}/preview/`
  const known = signal<SeekPreviews | undefined>(undefined)
  let askedAtMs = Number.NEGATIVE_INFINITY
  /** The position in seconds to show a preview for: the pointer's on the seek bar, or the target of the last seek. */
  const pointed = signal<number | undefined>(undefined)
  let pointing: ReturnType<typeof setTimeout> | undefined

  function take(ask: (path: string) => Promise<SeekPreviews>): void {
    if (!isThere('playable')) return
    askedAtMs = performance.now()
    // Without previews, the seek bar shows only the time.
    ask(path).then(
      (answer) => void (known.value = answer),
      () => undefined,
    )
  }

  function update(): void {
    const { state } = known.peek() ?? {}
    if (state === 'there' || state === 'impossible') return
    if (performance.now() - askedAtMs > POLL_MS) take(get)
  }

  /** @param forMs  omitted: until the pointer leaves the seek bar */
  function point(seconds: number | undefined, forMs?: number): void {
    clearTimeout(pointing)
    pointed.value = seconds
    if (seconds === undefined) return
    update()
    if (forMs !== undefined) pointing = setTimeout(() => point(undefined), forMs)
  }

  deck.holds.push(() => () => clearTimeout(pointing))

  return {
    pointed,
    point,

    /** Requested when playback starts, so that they are ready for later seeking. */
    wantPreviews: () => take(post),

    previewAt(seconds: number): PreviewPicture | undefined {
      const { interval = 0, count = 0, width = 0, height = 0, columns = 1, rows = 1, sheets } = known.value ?? {}
      if (!sheets || interval <= 0) return undefined
      const picture = Math.max(0, Math.min(count - 1, Math.round(seconds / interval)))
      const inSheet = picture % (columns * rows)
      return {
        url: under(sheets[Math.floor(picture / (columns * rows))] ?? ''),
        width,
        height,
        left: -(inSheet % columns) * width,
        top: -Math.floor(inSheet / columns) * height,
      }
    },
  }
}
