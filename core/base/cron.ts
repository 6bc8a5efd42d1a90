/** Schedules of three fields, `minute hour day_of_week` (contract 8.2): their form, words and next time. */
import { Cron } from 'croner'
import { toString as toWords } from 'cronstrue'
import { DAY_MS } from './clock.ts'
import { errors } from './error.ts'
import { madeOnce } from './made-once.ts'
import { say } from './say.ts'

const LONGEST = 100
/** Daylight saving shifts clocks by one hour, in some regions by half an hour or two hours. */
const LONGEST_CHANGE_MS = 3 * 60 * 60 * 1000

export type CronTimes = ReturnType<typeof readCron>

/** @param timeZone  an IANA name; default: that of the process. @throws bad_request with the reason */
export function readCron(text: string, timeZone?: string) {
  const fields = text.trim().split(/\s+/)
  if (text.length > LONGEST || fields.length !== 3)
    throw errors.badRequest('A schedule has three fields: minute hour day_of_week')
  const [minute, hour, weekday] = fields as [string, string, string]
  if (!/^\d{1,2}$/.test(minute) || Number(minute) > 59)
    throw errors.badRequest('The minute of a schedule is one number from 0 to 59, so that it runs at most once an hour')
  // croner receives plain lists, so that its own parsing of unusual forms does not matter.
  const [hours, weekdays] = [listed(hour, 23, 'hour'), listed(weekday, 6, 'day of the week')]
  const five = `${Number(minute)} ${hours} * * ${weekdays}`
  return {
    /** The three fields as given. */
    text: fields.join(' '),
    /** The first time after this one, in epoch milliseconds; undefined: none. */
    next(afterMs: number): number | undefined {
      // In a zone with daylight saving, croner returns past times or skips some. An offset is faster than the name UTC.
      // Not kept for the next call: it holds a list of ten thousand years, 80 kB.
      const cron = new Cron(five, { paused: true, mode: '5-part', utcOffset: 0 })
      const wall = madeOnce(wallClocks, timeZone, makeWallClock)
      // Starts before any possible clock change: of wall-clock times that occur twice, the first counts.
      for (let at = wall.of(afterMs) - LONGEST_CHANGE_MS; ; ) {
        const next = cron.nextRun(new Date(at))
        if (!next) return undefined
        at = next.getTime()
        const instant = wall.firstInstant(at)
        if (instant > afterMs) return instant
      }
    },
    // Ranges and steps read better as given; cronstrue cannot describe a list that contains `*`.
    inWords: (): string =>
      toWords(`${Number(minute)} ${isMixed(hour) ? hours : hour} * * ${isMixed(weekday) ? weekdays : weekday}`, {
        use24HourTimeFormat: true,
        throwExceptionOnParseError: true,
      }),
  }
}

type WallClock = ReturnType<typeof makeWallClock>

/** By zone: creating one takes longer than all its uses at a start. */
const wallClocks = new Map<string | undefined, WallClock>()

/** Converts to and from wall-clock times of a zone, expressed as milliseconds as if they were UTC. */
function makeWallClock(timeZone: string | undefined) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const of = (instantMs: number): number => {
    const parts = Object.fromEntries(format.formatToParts(instantMs).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 0, day, hour, minute, second } = parts
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
  return {
    of,
    firstInstant(wallMs: number): number {
      // The possible UTC offsets are those of the day before and the day after.
      const [before, after] = [wallMs - DAY_MS, wallMs + DAY_MS].map((about) => wallMs - (of(about) - about)) as [
        number,
        number,
      ]
      const there = [before, after].filter((instant) => of(instant) === wallMs)
      // A wall-clock time that daylight saving skips moves later by the size of the shift.
      return there.length > 0 ? Math.min(...there) : before
    },
  }
}

const isMixed = (field: string): boolean => field.includes(',') && field.includes('*')

/** Converts `*`, `n`, `n-m`, steps of `*`, and lists of them to a list of numbers, or `*`. */
function listed(field: string, highest: number, name: string): string {
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
  return chosen.size > highest ? '*' : [...chosen].sort((a, b) => a - b).join(',')
}
