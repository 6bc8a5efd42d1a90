/** Segments of a film that are skipped, unless somebody goes back into one. */
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
  /** Gone back into: not skipped again. */
  const wanted = new Set<string>()

  return {
    segments,
    skipped,

    /** @returns where it goes on; undefined: here */
    skipFrom(now: number, duration: number): number | undefined {
      const met = segments.find(({ UUID, segment: [from, to] }) => !wanted.has(UUID) && now >= from! && now < to! - 0.3)
      if (!met) return undefined
      const to = Math.min(met.segment[1]!, duration)
      skipped.value = { from: met.segment[0]!, to, segment: met }
      return to
    },

    /** Whoever jumps into a segment wants to see it. */
    wantAt(seconds: number): void {
      for (const { UUID, segment } of segments) if (seconds >= segment[0]! && seconds < segment[1]!) wanted.add(UUID)
    },

    /** @returns where the last one began */
    takeBack(): number | undefined {
      const { value } = skipped
      if (value) wanted.add(value.segment.UUID)
      skipped.value = undefined
      return value?.from
    },
  }
}
