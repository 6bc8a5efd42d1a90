/** Determines the day of a film without a publication date, which is never later than the day of its import. */
import { localDay } from 'archivolt'
import type { FoundFile } from './types.ts'

/** `20150607 Title`, `2015-06-07`, `2015.06.07`; not as part of an id or of a longer number. */
const DAY = /(?<![A-Za-z0-9_-])((?:19|20)\d\d)([-._]?)(\d\d)\2(\d\d)(?![A-Za-z0-9])/g

/**
 * The day from the name of the film, otherwise from the time of its file. @param now  epoch seconds @returns YYYY-MM-DD
 */
export function dayOfFilm({ base, changedMs }: Pick<FoundFile, 'base' | 'changedMs'>, now: number): string {
  const today = localDay(now)
  const named = [...base.matchAll(DAY)]
    .map(([, year, , month, day]) => `${year}-${month}-${day}`)
    .find((date) => isDay(date) && date <= today)
  return named ?? (changedMs > 0 && changedMs < now * 1000 ? localDay(Math.floor(changedMs / 1000)) : today)
}

/** Whether the day exists: Date.parse would accept 30 February as a day in March. */
const isDay = (date: string): boolean =>
  !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)
