/** Skips segments, unless somebody seeks back into one. */
import { signal } from '@preact/signals'
import type { Segment, Video } from '../server/records.ts'

interface Skip {
  from: number
  to: number
  segment: Segment
}

export function openSkips({ sponsorblock }: Video) {
  const segments = sponsorblock?.is_enabled
    ? sponsorblock.segments.filter(({ actionType, segment }) => actionType === 'skip' && segment.length === 2)
    : []
  const skipped = signal<Skip | undefined>(undefined)
  /** Segments that somebody went back into: not skipped again. */
  const wanted = new Set<string>()

  return {
    segments,
    skipped,

    /** @returns where playback continues; undefined: unchanged */
    skipFrom(now: number, duration: number): number | undefined {
      const met = segments.find(({ UUID, segment: [from, to] }) => !wanted.has(UUID) && now >= from! && now < to! - 0.3)
      if (!met) return undefined
      const to = Math.min(met.segment[1]!, duration)
      skipped.value = { from: met.segment[0]!, to, segment: met }
      return to
    },

    /** Seeking into a segment means that somebody wants to see it. */
    wantAt(seconds: number): void {
      for (const { UUID, segment } of segments) if (seconds >= segment[0]! && seconds < segment[1]!) wanted.add(UUID)
    },

    /** @returns the start of the last skipped segment */
    takeBack(): number | undefined {
      const { value } = skipped
      if (value) wanted.add(value.segment.UUID)
      skipped.value = undefined
      return value?.from
    },
  }
}
