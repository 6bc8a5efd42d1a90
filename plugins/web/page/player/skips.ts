/** Handles segments as the account has chosen: skips them, mutes them, or only shows them on the seek bar. */
import { signal } from '@preact/signals'
import type { Segment, Video } from '../server/records.ts'
import { userPreferences } from '../stores/session.ts'
import { isCategory } from './segment-words.ts'

interface Skip {
  from: number
  to: number
  segment: Segment
}

const choiceFor = ({ category }: Segment): 'skip' | 'show' | 'mute' =>
  (isCategory(category) && userPreferences.peek().segments?.[category]) || 'skip'

export function openSkips({ sponsorblock }: Video) {
  const segments = sponsorblock?.is_enabled
    ? sponsorblock.segments.filter(({ actionType, segment }) => actionType === 'skip' && segment.length === 2)
    : []
  const skipped = signal<Skip | undefined>(undefined)
  /** The segment that is playing without sound. */
  const hushed = signal<Segment | undefined>(undefined)
  /** Ids of segments that somebody has returned to: they are neither skipped nor muted again. */
  const wanted = new Set<string>()

  const at = (seconds: number, choice: 'skip' | 'mute'): Segment | undefined =>
    segments.find(
      (one) =>
        !wanted.has(one.UUID) &&
        seconds >= one.segment[0]! &&
        seconds < one.segment[1]! - 0.3 &&
        choiceFor(one) === choice,
    )

  return {
    segments,
    skipped,
    hushed,

    /** Called when somebody turns on the sound of a muted segment. */
    hear(): void {
      if (hushed.value) wanted.add(hushed.value.UUID)
      hushed.value = undefined
    },

    /**
     * Updates which segment is muted.
     * @returns whether the sound must be off
     */
    hushAt(now: number): boolean {
      hushed.value = at(now, 'mute')
      return hushed.value !== undefined
    },

    /** @returns where playback continues; undefined: unchanged */
    skipFrom(now: number, duration: number): number | undefined {
      const met = at(now, 'skip')
      if (!met) return undefined
      const to = Math.min(met.segment[1]!, duration)
      skipped.value = { from: met.segment[0]!, to, segment: met }
      return to
    },

    /** After seeking into a segment, it is neither skipped nor muted. */
    wantAt(seconds: number): void {
      for (const { UUID, segment } of segments) if (seconds >= segment[0]! && seconds < segment[1]!) wanted.add(UUID)
    },

    /** @returns the start of the last skipped segment, which is not skipped again */
    takeBack(): number | undefined {
      const { value } = skipped
      if (value) wanted.add(value.segment.UUID)
      skipped.value = undefined
      return value?.from
    },
  }
}
