/** Ages in words: days by the calendar, whatever the hour. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toAge, toLanguage } from '../../../plugins/web/page/texts/format.ts'

/** In local time, because ages count days of the local calendar. */
const at = (hour: number): number => new Date(2026, 10, 22, hour).getTime()

const AGES: Array<[when: string, said: string]> = [
  ['2026-11-23', 'tomorrow'],
  ['2026-11-22', 'today'],
  ['2026-11-21', 'yesterday'],
  ['2026-11-20', '2 days ago'],
  ['2026-11-16', '6 days ago'],
  ['2026-11-15', '1 week ago'],
  ['2026-11-08', '2 weeks ago'],
  ['2026-09-25', '1 month ago'],
  ['2025-11-20', '1 year ago'],
]

test('the age of a day is the same at any hour of today', () => {
  for (const hour of [0, 9, 13, 23])
    for (const [when, said] of AGES) assert.equal(toAge(when, at(hour)), said, `${when} at ${hour}`)
})

test('a day that has begun in UTC is today where it is still yesterday', (t) => {
  const before = process.env['TZ']
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
  process.env['TZ'] = 'America/New_York'

  const evening = Date.parse('2026-11-23T01:00:00Z')

  assert.deepEqual(
    ['2026-11-24', '2026-11-23', '2026-11-22', '2026-11-21'].map((day) => toAge(day, evening)),
    ['in 2 days', 'today', 'today', 'yesterday'],
  )
})

test('a moment of today is given in hours, an earlier one in days of the calendar', () => {
  const said = (hoursAgo: number) => toAge((at(9) - hoursAgo * 3_600_000) / 1000, at(9))

  assert.deepEqual(
    [said(0.5), said(5), said(23), said(30), said(40)],
    ['30 minutes ago', '5 hours ago', '23 hours ago', 'yesterday', '2 days ago'],
  )
  assert.equal(toAge(at(9) / 1000 + 120, at(9)), 'in 2 minutes')
})

test('a language has its own name, or the name that the platform gives', () => {
  const said = [
    ['en-US', ''],
    ['pt-BR', 'pt-BR'],
    ['zh-Hans', ''],
    ['en-GB', 'English (United Kingdom)'],
    ['en', 'English - SDH'],
    ['en-x8Yq3Tz91aB', 'English - SDH'],
    ['no language', ''],
  ].map(([code, name]) => toLanguage(code!, name))

  assert.deepEqual(said, [
    'American English',
    'Brazilian Portuguese',
    'Simplified Chinese',
    'British English',
    'English - SDH',
    'English - SDH',
    'no language',
  ])
})
