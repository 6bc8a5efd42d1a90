/**
 * Schedules of three fields, `minute hour day_of_week` (contract 8.2): read, put into words, looked up in the calendar.
 */
import { Cron } from 'croner'
import { toString as toWords } from 'cronstrue'
import { DAY_MS } from './clock.ts'
import { errors } from './error.ts'
import { say } from './say.ts'

const LONGEST = 100
/** Clocks are changed by an hour, in some places by half of one or by two. */
const LONGEST_CHANGE_MS = 3 * 60 * 60 * 1000

export interface CronTimes {
  /** Three fields, as they were given. */
  readonly text: string
  /** The first time after this one (epoch milliseconds); undefined: there is none. */
  next(afterMs: number): number | undefined
  /** For people. */
  inWords(): string
}

/**
 * @param timeZone  an IANA name; left out: the process's own
 * @throws bad_request with the reason
 */
export function readCron(text: string, timeZone?: string): CronTimes {
  const fields = text.trim().split(/\s+/)
  if (text.length > LONGEST || fields.length !== 3)
    throw errors.badRequest('A schedule has three fields: minute hour day_of_week')
  const [minute, hour, weekday] = fields as [string, string, string]
  if (!/^\d{1,2}$/.test(minute) || Number(minute) > 59)
    throw errors.badRequest('The minute of a schedule is one number from 0 to 59, so that it runs at most once an hour')
  // croner is given plain lists: its own reading of unusual forms plays no part.
  const [hours, weekdays] = [listed(hour, 23, 'hour'), listed(weekday, 6, 'day of the week')]
  const five = `${Number(minute)} ${hours} * * ${weekdays}`
  let cron: Cron | undefined // made once it is asked: most of what is read is only checked
  return {
    text: fields.join(' '),
    next(afterMs) {
      // Asked by the clock on the wall, as if that were UTC: in a zone whose clocks change croner names times that are
      // past, or passes over some. By the offset: by a zone's name, UTC's too, each answer takes forty times as long.
      cron ??= new Cron(five, { paused: true, mode: '5-part', utcOffset: 0 })
      const wall = wallClock(timeZone)
      // Begun before any change of the clocks: of times on the wall that come twice the first is taken.
      for (let at = wall.of(afterMs) - LONGEST_CHANGE_MS; ; ) {
        const next = cron.nextRun(new Date(at))
        if (!next) return undefined
        at = next.getTime()
        const instant = wall.firstInstant(at)
        if (instant > afterMs) return instant
      }
    },
    // Ranges and steps read better as they were given; cronstrue knows no list that has a `*` in it.
    inWords: () =>
      toWords(`${Number(minute)} ${isMixed(hour) ? hours : hour} * * ${isMixed(weekday) ? weekdays : weekday}`, {
        use24HourTimeFormat: true,
        throwExceptionOnParseError: true,
      }),
  }
}

interface WallClock {
  of(instantMs: number): number
  firstInstant(wallMs: number): number
}

/** By zone: a server has one, and making one takes longer than all that is asked of it at a start. */
const wallClocks = new Map<string | undefined, WallClock>()

function wallClock(timeZone: string | undefined): WallClock {
  const known = wallClocks.get(timeZone)
  if (known) return known
  const made = makeWallClock(timeZone)
  wallClocks.set(timeZone, made)
  return made
}

/** Times of a zone's clock on the wall, as milliseconds that would be its time in UTC. */
function makeWallClock(timeZone: string | undefined): WallClock {
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
    return Date.UTC(
      parts['year']!,
      parts['month']! - 1,
      parts['day']!,
      parts['hour']!,
      parts['minute']!,
      parts['second']!,
    )
  }
  return {
    of,
    firstInstant(wallMs) {
      // A day before and a day after have the distances to UTC that may hold.
      const [before, after] = [wallMs - DAY_MS, wallMs + DAY_MS].map((about) => wallMs - (of(about) - about)) as [
        number,
        number,
      ]
      const there = [before, after].filter((instant) => of(instant) === wallMs)
      // A time that the wall passes over comes as much later as the clocks are put forward.
      return there.length > 0 ? Math.min(...there) : before
    },
  }
}

const isMixed = (field: string): boolean => field.includes(',') && field.includes('*')

/** `*`, `n`, `n-m`, `*` in steps, and lists of them, as a list of numbers, or `*`. */
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
