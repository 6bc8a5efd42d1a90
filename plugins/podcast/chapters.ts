/** Chapters of a video as the JSON of Podcasting 2.0; segments to skip are chapters that apps do not list. */
import type { VideoDoc } from '../video/schema.ts'

interface Chapter {
  startTime: number
  endTime?: number
  title?: string
  toc?: false
}

/** In order. */
export function chaptersOf({ chapters = [], sponsorblock }: Pick<VideoDoc, 'chapters' | 'sponsorblock'>): Chapter[] {
  const shown = chapters.map(({ start, title }): Chapter => ({ startTime: start, title }))
  const silent = (sponsorblock?.segments ?? []).map(
    ({ segment: [startTime = 0, endTime = startTime] }): Chapter => ({ startTime, endTime, toc: false }),
  )
  return [...shown, ...silent].sort((a, b) => a.startTime - b.startTime)
}
