/** Chapters of a video as JSON of Podcasting 2.0. Segments to skip become chapters that apps do not list. */
import type { VideoDoc } from '../video/schema.ts'

interface Chapter {
  startTime: number
  endTime?: number
  title?: string
  toc?: false
}

/** The chapters of a video, in order. */
export function chaptersOf({ chapters = [], sponsorblock }: Pick<VideoDoc, 'chapters' | 'sponsorblock'>): Chapter[] {
  const shown = chapters.map(({ start, title }): Chapter => ({ startTime: start, title }))
  const silent = (sponsorblock?.segments ?? []).map(
    ({ segment: [startTime = 0, endTime = startTime] }): Chapter => ({ startTime, endTime, toc: false }),
  )
  return [...shown, ...silent].sort((a, b) => a.startTime - b.startTime)
}
