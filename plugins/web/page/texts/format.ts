/**
 * Formats numbers, bytes, days and durations: figures and dates by the browser's locale, words in the language of the
 * page.
 */
import { LANGUAGE, LOCALES } from './lookup.ts'

const whole = new Intl.NumberFormat(LOCALES)
const compact = new Intl.NumberFormat(LOCALES, { notation: 'compact', maximumFractionDigits: 1 })
const percent = new Intl.NumberFormat(LOCALES, { style: 'percent' })
const dayForm = new Intl.DateTimeFormat(LOCALES, { dateStyle: 'medium', timeZone: 'UTC' })
const momentForm = new Intl.DateTimeFormat(LOCALES, { dateStyle: 'medium', timeStyle: 'short' })
const dateForm = new Intl.DateTimeFormat(LOCALES, { dateStyle: 'medium' })
const weekdayForm = new Intl.DateTimeFormat(LANGUAGE, { weekday: 'long' })
const clockForm = new Intl.DateTimeFormat(LOCALES, { timeStyle: 'short' })
const monthForm = new Intl.DateTimeFormat(LOCALES, { month: 'long', year: 'numeric', timeZone: 'UTC' })
const languages = new Intl.DisplayNames([LANGUAGE, 'en'], { type: 'language', fallback: 'code' })
/** How the platform names languages: in English, in one of two styles. */
const englishLanguages = (['dialect', 'standard'] as const).map(
  (languageDisplay) => new Intl.DisplayNames('en', { type: 'language', languageDisplay }),
)
const relative = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'auto' })
/** "last month" differs from "1 month ago". */
const counted = new Intl.RelativeTimeFormat(LANGUAGE, { numeric: 'always' })
const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte']

export const toNumber = (value: number): string => whole.format(value)
/** 1234567 → 1.2M */
export const toCompact = (value: number): string => compact.format(value)
/** 0.25 → 25 % */
export const toPercent = (fraction: number): string => percent.format(fraction)

/** Decimal units, as on the packaging of disks. */
export function toBytes(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** power
  return new Intl.NumberFormat(LOCALES, {
    style: 'unit',
    unit: UNITS[power]!,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: value < 10 && power > 0 ? 1 : 0,
  }).format(value)
}

/** Seconds as on a player: 9 → 0:09, 4981 → 1:23:01 */
export function toClock(seconds: number): string {
  const all = Math.max(0, Math.floor(seconds))
  const [hours, minutes, rest] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60]
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

export const DAY_SECONDS = 86_400

/** Seconds in words, with at most two units: 4981 → 1 hr 23 min */
export function toSpan(seconds: number): string {
  const parts: Array<[number, string]> = [
    [DAY_SECONDS, 'day'],
    [3600, 'hour'],
    [60, 'minute'],
    [1, 'second'],
  ]
  let rest = Math.max(0, Math.round(seconds))
  const words: string[] = []
  for (const [size, unit] of parts) {
    const amount = Math.floor(rest / size)
    rest -= amount * size
    if (amount > 0 || (unit === 'second' && words.length === 0))
      words.push(new Intl.NumberFormat(LANGUAGE, { style: 'unit', unit, unitDisplay: 'short' }).format(amount))
    if (words.length === 2) break
  }
  return words.join(' ')
}

const AGES: Array<[Intl.RelativeTimeFormatUnit, number, Intl.RelativeTimeFormat]> = [
  ['year', 31_557_600, counted],
  ['month', 2_629_800, counted],
  ['week', 604_800, counted],
  ['hour', 3600, relative],
  ['minute', 60, relative],
]

/** A day (`2024-03-01`) or epoch seconds → `3 weeks ago`, `in 5 minutes`. Counted in calendar days. */
export function toAge(when: string | number, nowMs = Date.now()): string {
  const isDay = typeof when === 'string'
  const thenMs = isDay ? Date.parse(`${when}T00:00:00Z`) : when * 1000
  if (Number.isNaN(thenMs)) return ''
  const apart = Math.round(((isDay ? thenMs : midnight(thenMs)) - midnight(nowMs)) / 1000 / DAY_SECONDS)
  // Days are in UTC, so a day may begin before the local one.
  const days = isDay && thenMs <= nowMs ? Math.min(0, apart) : apart
  const seconds = isDay ? days * DAY_SECONDS : (thenMs - nowMs) / 1000
  const isNear = Math.abs(seconds) < 7 * DAY_SECONDS
  if (isNear && (isDay || Math.abs(seconds) >= DAY_SECONDS)) return relative.format(days, 'day')
  const [unit, size, form] = AGES.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1, relative]
  return form.format(Math.trunc(seconds / size), unit)
}

/** The local calendar day, as UTC midnight. */
function midnight(ms: number): number {
  const here = new Date(ms)
  return Date.UTC(here.getFullYear(), here.getMonth(), here.getDate())
}

/**
 * The name of a language in the language of the page. A given name takes precedence if it says more than the code, such
 * as “English - SDH”; the platform's own names are in English.
 */
export function toLanguage(code: string, name = ''): string {
  try {
    const isPlain = name === '' || name === code || englishLanguages.some((english) => english.of(code) === name)
    return isPlain ? (languages.of(code) ?? code) : name
  } catch {
    return name || code // one of the platform's own codes
  }
}

/** A day as in the API (`2024-03-01`), in words. */
export const toDay = (day: string): string =>
  Number.isNaN(Date.parse(day)) ? day : dayForm.format(new Date(`${day.slice(0, 10)}T00:00:00Z`))
/** The month of a day as in the API. */
export const toMonth = (day: string): string =>
  Number.isNaN(Date.parse(day)) ? day : monthForm.format(new Date(`${day.slice(0, 10)}T00:00:00Z`))
/** A moment in words. @param when  epoch seconds or ISO 8601 */
export const toMoment = (when: number | string): string =>
  momentForm.format(typeof when === 'number' ? when * 1000 : new Date(when))
/** The local day of epoch seconds, in words. */
export const toDate = (epoch: number): string => dateForm.format(epoch * 1000)
/** The day of the week within the last six days, otherwise the date. @param when  epoch seconds */
export const toWeekday = (when: number, nowMs = Date.now()): string =>
  nowMs - when * 1000 < 6 * DAY_SECONDS * 1000 ? weekdayForm.format(when * 1000) : toDate(when)
/** The time of day of epoch seconds. */
export const toTimeOfDay = (epoch: number): string => clockForm.format(epoch * 1000)
