/** Local time as numbers, compared with the platform's own calendar. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { timeZone } from '../../../plugins/index-kit/days.ts'
import { spanOf, zoneChanges } from '../../../plugins/index-kit/local-days.ts'

function changeZones(t: TestContext): void {
  const before = process.env['TZ']
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
}

test('changes of the clock are found to the second, in all kinds of zones', (t) => {
  changeZones(t)
  for (const zone of [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Asia/Kolkata',
    'Australia/Lord_Howe',
    'Pacific/Apia',
    'America/Sao_Paulo',
  ]) {
    process.env['TZ'] = zone
    const changes = zoneChanges()
    const dayOf = (epoch: number) => {
      const offset = changes.findLast(([from]) => from <= epoch)?.[1] ?? changes[0]![1]
      return spanOf(Math.floor((epoch + offset) / 86_400), 'day')
    }
    const calendar = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    })
    const times = [
      ...changes.slice(1).flatMap(([from]) => [from - 1, from]),
      ...Array.from({ length: 400 }, (_, at) => 700_000_000 + at * 5_000_011),
    ]
    for (const epoch of times) assert.equal(dayOf(epoch), calendar.format(epoch * 1000), `${zone} ${epoch}`)
  }
})

test('weeks begin on Monday, months on their first', () => {
  const day = (text: string) => Date.parse(text) / 86_400_000
  assert.equal(spanOf(day('2024-03-10'), 'week'), '2024-03-04')
  assert.equal(spanOf(day('2024-03-11'), 'week'), '2024-03-11')
  assert.equal(spanOf(day('1969-12-31'), 'week'), '1969-12-29')
  assert.equal(spanOf(day('2024-02-29'), 'month'), '2024-02-01')
})

test('the time zone has a name that an index server knows, even if TZ is empty', (t) => {
  changeZones(t)
  const names = ['', 'Asia/Kolkata'].map((zone) => {
    process.env['TZ'] = zone
    return timeZone()
  })

  assert.deepEqual(names, [
    'UTC',
    new Intl.DateTimeFormat('en', { timeZone: 'Asia/Kolkata' }).resolvedOptions().timeZone,
  ])
})
