/** Describes a schedule of three fields, `minute hour day_of_week`, in words. */
import { DAY_SECONDS } from '../../texts/format.ts'
import { LANGUAGE, LOCALES, t } from '../../texts/lookup.ts'

/** A Sunday, in epoch milliseconds. */
const SUNDAY = Date.UTC(2024, 0, 7)
const [DAY_MS, HOUR_MS, MINUTE_MS] = [DAY_SECONDS * 1000, 3_600_000, 60_000]
const days = new Intl.DateTimeFormat(LANGUAGE, { weekday: 'long', timeZone: 'UTC' })
const times = new Intl.DateTimeFormat(LOCALES, { timeStyle: 'short', timeZone: 'UTC' })
const lists = new Intl.ListFormat(LANGUAGE, { type: 'conjunction' })

/** @param weekday  as in cron, where Sunday is 0 */
export const dayName = (weekday: number | string): string => days.format(SUNDAY + Number(weekday) * DAY_MS)

/** @param cron  valid for the server; an unusual one is returned unchanged */
export function cronInWords(cron: string): string {
  const [minute = '', hour = '', weekday = ''] = cron.split(' ')
  const [hours, weekdays] = [numbersIn(hour, 23), numbersIn(weekday, 6)]
  if (!/^\d+$/.test(minute) || !hours || !weekdays) return cron
  const step = stepOf(hours)
  const at = hours.map((one) => times.format(SUNDAY + one * HOUR_MS + Number(minute) * MINUTE_MS))
  const often = step === undefined ? undefined : t('settings.schedules.hours', { count: step })
  if (weekdays.length === 7) return often ?? t('settings.schedules.dailyAt', { times: lists.format(at) })
  // Weeks start on Monday here.
  const on = lists.format(weekdays.sort((one, other) => ((one + 6) % 7) - ((other + 6) % 7)).map(dayName))
  return often
    ? t('settings.schedules.oftenOn', { often, days: on })
    : t('settings.schedules.daysAt', { days: on, times: lists.format(at) })
}

/** The interval, if the hours are at equal intervals all day from midnight on. */
function stepOf(hours: readonly number[]): number | undefined {
  const step = 24 / hours.length
  return step <= 12 && Number.isInteger(step) && hours.every((hour, at) => hour === at * step) ? step : undefined
}

/**
 * Parses `*`, `*\/6`, `8-20`, `1,3,5`, `0-12/4`.
 * @returns undefined: the field has another form
 */
function numbersIn(field: string, last: number): number[] | undefined {
  const found = new Set<number>()
  for (const part of field.split(',')) {
    const [, from, to, step = '1'] = /^(\*|\d+)(?:-(\d+))?(?:\/(\d+))?$/.exec(part) ?? []
    if (from === undefined || step === '0') return undefined
    const first = from === '*' ? 0 : Number(from)
    const end = to !== undefined ? Number(to) : from === '*' || step !== '1' ? last : first
    for (let one = first; one <= Math.min(end, last); one += Number(step)) found.add(one)
  }
  return found.size > 0 ? [...found].sort((one, other) => one - other) : undefined
}
