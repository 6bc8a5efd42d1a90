/** The day of a film of which nobody tells when it was published: never later than the day on which it came here. */
import { localDay } from 'archivolt'
import type { FoundFile } from './types.ts'

/** `20150607 Title`, `2015-06-07`, `2015.06.07`; not as part of an id or of a longer number. */
const DAY = /(?<![A-Za-z0-9_-])((?:19|20)\d\d)([-._]?)(\d\d)\2(\d\d)(?![A-Za-z0-9])/g

/** By the date in its name, else by the time of its file. @param now  epoch seconds @returns YYYY-MM-DD */
export function dayOfFilm({ base, changedMs }: Pick<FoundFile, 'base' | 'changedMs'>, now: number): string {
  const today = localDay(now)
  const named = [...base.matchAll(DAY)]
    .map(([, year, , month, day]) => `${year}-${month}-${day}`)
    .find((date) => isDay(date) && date <= today)
  return named ?? (changedMs > 0 && changedMs < now * 1000 ? localDay(Math.floor(changedMs / 1000)) : today)
}

/** The thirtieth of February would be read as a day of March. */
const isDay = (date: string): boolean =>
  !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)
