/**
 * Schedules of three fields, `minute hour day_of_week` (contract 8.2): parses them, describes them, and finds the next
 * time.
 */
import { toString as toWords } from 'cronstrue'
import { errors } from './error.ts'
import { say } from './say.ts'

const LONGEST = 100

export interface CronTimes {
  /** The three fields as given. */
  readonly text: string
  /** The first time after this one in the time zone of the process, in epoch milliseconds. */
  next(afterMs: number): number
  /** A description for people. */
  inWords(): string
}

/** @throws bad_request with the reason */
export function readCron(text: string): CronTimes {
  const fields = text.trim().split(/\s+/)
  if (text.length > LONGEST || fields.length !== 3)
    throw errors.badRequest('A schedule has three fields: minute hour day_of_week')
  const [minute, hour, weekday] = fields as [string, string, string]
  if (!/^\d{1,2}$/.test(minute) || Number(minute) > 59)
    throw errors.badRequest('The minute of a schedule is one number from 0 to 59, so that it runs at most once an hour')
  const [hours, weekdays] = [listed(hour, 23, 'hour'), listed(weekday, 6, 'day of the week')]
  return {
    text: fields.join(' '),
    next: (afterMs) => nextTime(afterMs, Number(minute), hours, weekdays),
    // Ranges and steps read better as given; cronstrue cannot describe a list that contains `*`.
    inWords: () =>
      toWords(`${Number(minute)} ${describable(hour, hours, 23)} * * ${describable(weekday, weekdays, 6)}`, {
        use24HourTimeFormat: true,
        throwExceptionOnParseError: true,
      }),
  }
}

/**
 * Counts in local days, as the clock on the wall does: where daylight saving repeats a time, the first one counts; a
 * time that it skips moves later by the size of the shift, at most into the next day.
 */
function nextTime(afterMs: number, minute: number, hours: readonly number[], weekdays: readonly number[]): number {
  const from = new Date(afterMs)
  for (let day = from.getDate() - 1; ; day++) {
    const at = (hour: number): Date => new Date(from.getFullYear(), from.getMonth(), day, hour, minute)
    if (!weekdays.includes(at(12).getDay())) continue
    const times = hours.map((hour) => at(hour).getTime()).filter((time) => time > afterMs)
    if (times.length > 0) return Math.min(...times)
  }
}

const describable = (field: string, numbers: readonly number[], highest: number): string => {
  if (!(field.includes(',') && field.includes('*'))) return field
  return numbers.length > highest ? '*' : numbers.join(',')
}

/** Converts `*`, `n`, `n-m`, steps of `*`, and lists of them to numbers in ascending order. */
function listed(field: string, highest: number, name: string): number[] {
  const chosen = new Set<number>()
  for (const part of field.split(',')) {
    const form = /^(?:(\d{1,2})(?:-(\d{1,2}))?|\*(?:\/(\d{1,2}))?)$/.exec(part)
    const [, from, to, every] = form ?? []
    const first = Number(from ?? 0)
    const last = Number(to ?? from ?? highest)
    const step = Number(every ?? 1)
    if (!(form && first <= last && last <= highest && step >= 1 && step <= highest + 1)) {
      throw errors.badRequest(
        say`The ${{ name }} of a schedule is *, */n, or a list of numbers and ranges from 0 to ${{ highest }}`,
      )
    }
    for (let number = first; number <= last; number += step) chosen.add(number)
  }
  return [...chosen].sort((a, b) => a - b)
}
