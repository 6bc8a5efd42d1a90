import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { readCron } from '../../../core/base/cron.ts'
import { say } from '../../../core/base/say.ts'
import { openScheduler } from '../../../core/jobs/scheduler.ts'
import { defineTask } from '../../../core/plugin/define.ts'
import { testClock } from '../../support/clock.ts'
import { openWorkshop } from './workshop.ts'

const HOUR = 3600_000
const times = (text: string, zone: string, from: string, count: number): string[] => {
  const cron = readCron(text, zone)
  const found: string[] = []
  for (let at = cron.next(Date.parse(from)); at !== undefined && found.length < count; at = cron.next(at))
    found.push(new Date(at).toISOString().replace(':00.000Z', 'Z'))
  return found
}

test('three fields: one minute, then hours and weekdays as stars, lists, ranges and steps', () => {
  const monday = '2026-01-12T00:00:30Z'
  const accepted: Record<string, string[]> = {
    '0 8 *': ['2026-01-12T08:00Z', '2026-01-13T08:00Z'],
    '59 23 0': ['2026-01-18T23:59Z', '2026-01-25T23:59Z'],
    '5 * *': ['2026-01-12T00:05Z', '2026-01-12T01:05Z'],
    '30 */8 *': ['2026-01-12T00:30Z', '2026-01-12T08:30Z', '2026-01-12T16:30Z', '2026-01-13T00:30Z'],
    '0 6,18-20 1-5': [
      '2026-01-12T06:00Z',
      '2026-01-12T18:00Z',
      '2026-01-12T19:00Z',
      '2026-01-12T20:00Z',
      '2026-01-13T06:00Z',
    ],
    ' 07  9  6 ': ['2026-01-17T09:07Z'],
    '0 12 */2': ['2026-01-13T12:00Z', '2026-01-15T12:00Z', '2026-01-17T12:00Z', '2026-01-18T12:00Z'],
  }
  for (const [text, expected] of Object.entries(accepted))
    assert.deepEqual(times(text, 'UTC', monday, expected.length), expected, text)

  const refused = [
    '',
    '0 8',
    '0 8 * *',
    '* 8 *',
    '*/5 8 *',
    '0,30 8 *',
    '60 8 *',
    '-1 8 *',
    '0 24 *',
    '0 8 7',
    '0 8/2 *',
    '0 8-6 *',
    '0 */0 *',
    '0 *x *',
    '0 8, *',
    '0 8 MON',
    '0 8 L',
    '0 8 1#2',
    '@daily',
    'auto',
    '0 1-23/2 *',
    '0 8 *'.padEnd(300),
    '0 ９ *',
  ]
  for (const text of refused) assert.throws(() => readCron(text), { code: 'bad_request' }, text)
})

test('times are in the time zone; a change of clocks neither skips nor repeats a time', () => {
  // On 29 March 2026, 02:30 does not exist in Berlin; on 25 October it occurs twice.
  assert.deepEqual(times('0 8 *', 'Europe/Berlin', '2026-03-28T00:00Z', 3), [
    '2026-03-28T07:00Z',
    '2026-03-29T06:00Z',
    '2026-03-30T06:00Z',
  ])
  assert.equal(times('30 2 *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)[0]?.slice(0, 10), '2026-03-29')
  assert.deepEqual(
    times('30 2 *', 'Europe/Berlin', '2026-10-24T12:00Z', 2).map((time) => time.slice(0, 10)),
    ['2026-10-25', '2026-10-26'],
  )
  assert.deepEqual(times('0 0 0', 'Asia/Kathmandu', '2026-01-12T00:00Z', 1), ['2026-01-17T18:15Z'])
})

test('across a change of clocks the next time is always in the future, and stays the same until it has come', () => {
  const changes: Array<[zone: string, at: string]> = [
    ['Australia/Lord_Howe', '2026-04-04T15:00Z'], // half an hour twice
    ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
    ['Europe/Berlin', '2026-10-25T01:00Z'],
    ['Europe/Berlin', '2026-03-29T01:00Z'],
    ['Antarctica/Troll', '2026-10-25T01:00Z'], // two hours
    ['America/Santiago', '2026-04-05T03:00Z'], // midnight twice
  ]
  for (const [zone, change] of changes) {
    for (const text of ['0 2 *', '30 2 *', '45 1 *', '10 0 *', '45 * *']) {
      const cron = readCron(text, zone)
      const start = Date.parse(change) - 4 * HOUR
      let next = cron.next(start)!
      for (let now = start; now < start + 27 * HOUR; now += 600_000) {
        if (now >= next) {
          const later = cron.next(next)!
          // Less than an hour after the previous one only if that one was late, because the clock had skipped its time.
          assert.ok(
            later - next >= HOUR / 2,
            `${zone} ${text}: ${new Date(later).toISOString()} after ${new Date(next).toISOString()}`,
          )
          next = later
        }
        assert.equal(cron.next(now), next, `${zone} ${text} at ${new Date(now).toISOString()}`)
      }
    }
  }
  assert.deepEqual(times('45 1 *', 'Australia/Lord_Howe', '2026-04-04T12:00Z', 2), [
    '2026-04-04T14:45Z',
    '2026-04-05T15:15Z',
  ])
})

test('a schedule is described in words', () => {
  assert.equal(readCron('0 8 *').inWords(), 'At 08:00')
  assert.match(readCron('0 18 0').inWords(), /At 18:00.*Sunday/)
  assert.equal(readCron('0 8 0,*').inWords(), 'At 08:00')
  assert.match(readCron('0 5,*/12 *').inWords(), /^At 00:00, 05:00,? and 12:00$/)
})

interface Ran {
  task: string
  at: string
  payload: Record<string, unknown>
}

async function aScheduler(t: TestContext, { start = '2026-01-15T10:00:00Z', zone = 'UTC' } = {}) {
  const ran: Ran[] = []
  const clock = testClock(start)
  const run =
    (task: string) =>
    async ({ payload }: { payload: object }) =>
      void ran.push({ task, at: new Date(clock.now()).toISOString().slice(0, 16), payload: { ...payload } })
  const Payload = Type.Object({ days: Type.Optional(Type.Integer()), scheduled: Type.Optional(Type.Boolean()) })
  const tasks = [
    defineTask({
      name: 'scan',
      title: 'Scan',
      payload: Type.Object({}),
      lane: 'light',
      outgoing: true,
      schedule: { auto: '0 8 *' },
      run: run('scan'),
    }),
    defineTask({
      name: 'check',
      title: 'Check',
      payload: Payload,
      lane: 'light',
      schedule: {
        auto: '0 12 *',
        initially: 'auto',
        config: Type.Object({ days: Type.Optional(Type.Integer({ minimum: 1 })), keep: Type.Optional(Type.Integer()) }),
        initialConfig: { days: 90, keep: 1 },
      },
      run: run('check'),
    }),
    defineTask({
      name: 'version',
      title: 'Version',
      payload: Type.Object({}),
      lane: 'light',
      schedule: { auto: '0 11 3', initially: 'random' },
      run: run('version'),
    }),
    defineTask({ name: 'other', title: 'Other', payload: Type.Object({}), lane: 'light', run: run('other') }),
    defineTask({
      name: 'count',
      title: 'Count',
      payload: Type.Object({}),
      lane: 'light',
      schedule: { auto: '0 9 *' },
      run: async () => say`${{ count: 3 }} boats`,
    }),
  ]
  let timeZone = zone
  let workshop = await openWorkshop(t, tasks, { clock })
  const open = async () => {
    const scheduler = openScheduler({ ...workshop, app: () => undefined, timeZone })
    await workshop.jobs.begin()
    await scheduler.begin()
    t.after(() => scheduler.close())
    return scheduler
  }
  let scheduler = await open()
  return {
    clock,
    ran,
    get ledger() {
      return workshop.ledger
    },
    get jobs() {
      return workshop.jobs
    },
    get schedules() {
      return scheduler
    },
    /** Stops the server for this long; it may start in another time zone. */
    async off(ms: number, zoneAfter = timeZone) {
      timeZone = zoneAfter
      await scheduler.close()
      await workshop.close()
      await clock.advance(ms)
      workshop = await openWorkshop(t, tasks, { clock, folder: workshop.folder })
      scheduler = await open()
      await clock.advance(0)
    },
  }
}

test('a new installation has the default schedules, and a removed one is not added again', async (t) => {
  const it = await aScheduler(t)
  const [check, version] = it.schedules.list()
  assert.deepEqual(check, {
    name: 'check',
    schedule: '0 12 *',
    schedule_human: 'At 12:00',
    last_run_at: null,
    next_run_at: '2026-01-15T12:00:00.000Z',
    config: { days: 90, keep: 1 },
    last_status: null,
    last_ended_at: null,
    last_result: null,
  })
  assert.match(version?.schedule ?? '', /^\d{1,2} \d{1,2} 3$/)
  assert.equal(it.schedules.list().length, 2)

  await it.schedules.remove('check')
  await assert.rejects(it.schedules.remove('check'), { code: 'not_found' })
  await it.off(HOUR)
  assert.deepEqual(
    it.schedules.list().map(({ name }) => name),
    ['version'],
  )
})

test('a random minute of an hour; default schedules are not added to an existing folder', async (t) => {
  const task = (name: string, hour: string, isFirstStartOnly: boolean) =>
    defineTask({
      name,
      title: name,
      payload: Type.Object({}),
      lane: 'light',
      schedule: { auto: '0 16 1-5', initially: { hour, isFirstStartOnly } },
      run: async () => null,
    })
  const first = await openWorkshop(t, [task('scan', '8', true)], { clock: testClock('2026-01-15T10:00:00Z') })
  const begun = openScheduler({ ...first, app: () => undefined })
  await begun.begin()
  t.after(() => begun.close())
  assert.match(begun.get('scan')?.schedule ?? '', /^([1-5]?\d) 8 1-5$/)
  await begun.close()
  await first.close()

  const updated = await openWorkshop(
    t,
    [task('scan', '8', true), task('download', '9', true), task('check', '7', false)],
    { clock: first.clock, folder: first.folder },
  )
  const later = openScheduler({ ...updated, app: () => undefined })
  await later.begin()
  t.after(() => later.close())

  assert.deepEqual(
    later.list().map(({ name }) => name),
    ['check', 'scan'],
  )
})

test('a random time is not within the first half hour', async (t) => {
  const tasks = Array.from({ length: 60 }, (_, at) =>
    defineTask({
      ...{ name: `scan${at}`, title: 'Scan', payload: Type.Object({}), lane: 'light' },
      schedule: { auto: '0 8 *', initially: at % 2 === 0 ? 'random' : { hour: '10' } },
      run: async () => null,
    }),
  )
  const workshop = await openWorkshop(t, tasks, { clock: testClock('2026-01-15T09:40:00Z') })
  const scheduler = openScheduler({ ...workshop, app: () => undefined })
  await scheduler.begin()
  t.after(() => scheduler.close())

  const next = scheduler.list().map((schedule) => schedule.next_run_at!)
  assert.equal(next.length, 60)
  assert.deepEqual(
    next.filter((time) => time < '2026-01-15T10:10:00.000Z'),
    [],
  )
  assert.ok(new Set(next).size > 5, 'spread')
})

test('a schedule starts its task at its times, with the keys of its config that the task accepts', async (t) => {
  const it = await aScheduler(t)
  await it.schedules.remove('version')
  await it.schedules.set('scan', 'auto')

  await it.clock.advance(49 * HOUR)

  assert.deepEqual(it.ran, [
    { task: 'check', at: '2026-01-15T12:00', payload: { days: 90, scheduled: true } },
    { task: 'scan', at: '2026-01-16T08:00', payload: {} },
    { task: 'check', at: '2026-01-16T12:00', payload: { days: 90, scheduled: true } },
    { task: 'scan', at: '2026-01-17T08:00', payload: {} },
  ])
  const record = it.schedules.get('scan')
  assert.deepEqual([record?.last_run_at, record?.next_run_at], ['2026-01-17T08:00:00.000Z', '2026-01-18T08:00:00.000Z'])
})

test('a schedule that somebody changes or removes while due ones start keeps its new time, or does not start', async (t) => {
  const ran: string[] = []
  let change = async (): Promise<unknown> => undefined
  let changed: Promise<unknown> | undefined
  const task = (name: string, isNeeded: () => boolean) =>
    defineTask({
      ...{ name, title: name, payload: Type.Object({}), lane: 'light' },
      schedule: { auto: '0 12 *', initially: 'auto', isNeeded },
      run: async () => void ran.push(name),
    })
  const first = task('a', () => {
    changed = change()
    return true
  })
  const clock = testClock('2026-01-15T10:00:00Z')
  const workshop = await openWorkshop(t, [first, task('b', () => true)], { clock })
  const schedules = openScheduler({ ...workshop, app: () => undefined })
  await workshop.jobs.begin()
  await schedules.begin()
  t.after(() => schedules.close())
  change = () => Promise.all([schedules.set('a', '0 18 *'), schedules.remove('b')])

  await clock.advance(3 * HOUR)
  await changed

  assert.deepEqual(ran, ['a'])
  const { next_run_at, last_run_at } = schedules.get('a')!
  assert.deepEqual([next_run_at, last_run_at], ['2026-01-15T18:00:00.000Z', '2026-01-15T12:00:00.000Z'])
})

test('times follow the time zone across a change of clocks', async (t) => {
  const it = await aScheduler(t, { start: '2026-03-27T22:00:00Z', zone: 'Europe/Berlin' })
  await it.schedules.remove('version')
  await it.schedules.remove('check')
  await it.schedules.set('scan', '0 8 *')

  await it.clock.advance(72 * HOUR)

  assert.deepEqual(
    it.ran.map(({ at }) => at),
    ['2026-03-28T07:00', '2026-03-29T06:00', '2026-03-30T06:00'],
  )
})

test('in another time zone the next times are those of that zone; missed ones are still made up for', async (t) => {
  const it = await aScheduler(t, { start: '2026-01-15T10:00:00Z', zone: 'UTC' })
  await it.schedules.remove('version')
  await it.schedules.set('scan', '0 8 *')

  await it.off(HOUR, 'Asia/Tokyo')
  assert.deepEqual(
    it.schedules.list().map(({ next_run_at }) => next_run_at),
    ['2026-01-16T03:00:00.000Z', '2026-01-15T23:00:00.000Z'],
  )
  assert.deepEqual(it.ran, [])

  await it.off(13 * HOUR, 'America/New_York')
  assert.deepEqual(
    it.ran.map(({ task, at }) => `${task} ${at}`),
    ['scan 2026-01-16T00:00'],
  )
  assert.deepEqual(
    it.schedules.list().map(({ next_run_at }) => next_run_at),
    ['2026-01-16T17:00:00.000Z', '2026-01-16T13:00:00.000Z'],
  )
})

test('a time missed by less than a day runs once at the start, an older one does not', async (t) => {
  const it = await aScheduler(t)
  await it.schedules.remove('version')
  await it.schedules.remove('check')
  await it.schedules.set('scan', '0 * *')
  await it.off(5 * HOUR + 60_000)
  assert.deepEqual(
    it.ran.map(({ at }) => at),
    ['2026-01-15T15:01'],
    'five missed, one run',
  )

  await it.schedules.set('scan', '0 8 4')
  await it.off(7 * 24 * HOUR - 4 * HOUR)
  assert.equal(it.ran.length, 2, 'missed at 08:00 by less than a day')
  await it.off(8 * 24 * HOUR + 24 * HOUR)
  assert.equal(it.ran.length, 2, 'missed by more than a day')
  assert.equal(it.schedules.get('scan')?.next_run_at, '2026-02-05T08:00:00.000Z')
})

test('a schedule within the half hour that occurs twice does not run every minute of it', async (t) => {
  const zones: Array<[zone: string, start: string]> = [
    ['Australia/Lord_Howe', '2026-04-04T14:20:00Z'],
    ['Europe/Berlin', '2026-10-24T23:50:00Z'],
  ]
  for (const [zone, start] of zones) {
    const it = await aScheduler(t, { start, zone })
    for (const { name } of it.schedules.list()) await it.schedules.remove(name)
    // Calculated again and again, as by restarts.
    for (let quarter = 0; quarter < 12; quarter++) {
      const hour = zone === 'Europe/Berlin' ? 2 : 1
      await it.schedules.set('scan', `${[0, 15, 30, 45][quarter % 4]} ${hour} *`)
      await it.clock.advance(10 * 60_000)
    }
    assert.ok(it.ran.length <= 4, `${zone}: ${it.ran.map(({ at }) => at)}`)
  }
})

test('after the clock was wrong for a while, schedules continue at their times', async (t) => {
  const it = await aScheduler(t)
  await it.schedules.remove('version')
  await it.schedules.remove('check')
  await it.schedules.set('scan', '0 12 *')
  const ran = () => it.ran.splice(0).map(({ at }) => at)

  for (const wrong of ['2026-01-15T15:00:00Z', '2038-01-19T00:00:00Z']) {
    it.clock.set(wrong)
    await it.clock.advance(2 * 60_000)
    ran()
    it.clock.set('2026-01-15T10:00:00Z')
    await it.clock.advance(60_000)
    assert.equal(it.schedules.get('scan')?.next_run_at, '2026-01-15T12:00:00.000Z', 'not tomorrow')
  }
  await it.clock.advance(2 * HOUR)
  assert.deepEqual(ran(), ['2026-01-15T12:00'])

  it.clock.set('2026-01-15T11:59:58Z')
  await it.clock.advance(HOUR)
  assert.deepEqual(ran(), [], 'a small correction makes nothing run twice')
})

test('a machine that starts in 1970 until its clock is set makes up for nothing that has already run', async (t) => {
  const it = await aScheduler(t)
  await it.schedules.remove('version')
  await it.schedules.remove('check')
  await it.schedules.set('scan', '0 12 *')
  await it.clock.advance(3 * HOUR)
  assert.equal(it.ran.length, 1)

  it.clock.set('1970-01-01T00:00:00Z')
  await it.off(60_000)
  await it.clock.advance(2 * 60_000)
  it.clock.set('2026-01-15T14:00:00Z')
  await it.clock.advance(2 * 60_000)

  assert.equal(it.ran.length, 1)
  assert.equal(it.schedules.get('scan')?.next_run_at, '2026-01-16T12:00:00.000Z')
})

test('an invalid schedule is refused, and nothing changes', async (t) => {
  const { schedules } = await aScheduler(t)
  const before = schedules.list()
  const refused: Array<[string, string, Record<string, unknown>?]> = [
    ['other', '0 8 *'],
    ['nothing', '0 8 *'],
    ['scan', '* * *'],
    ['scan', '0 8 *', { days: 3 }],
    ['check', '0 8 *', { days: 0 }],
    ['check', '0 8 *', { days: '3' }],
    ['check', '0 8 *', { days: 3, colour: 'red' }],
    ['check', '0 8 *', JSON.parse('{"__proto__": 3}') as Record<string, unknown>],
  ]
  for (const [task, cron, config] of refused)
    await assert.rejects(
      schedules.set(task, cron, config),
      { code: 'bad_request' },
      `${task} ${cron} ${JSON.stringify(config)}`,
    )
  assert.deepEqual(schedules.list(), before)

  assert.deepEqual((await schedules.set('check', '0 9 *')).config, { days: 90, keep: 1 }, 'left out: the config stays')
  assert.deepEqual((await schedules.set('check', '0 9 *', { days: 3 })).config, { days: 3 })
})

test('outgoing URLs: per task, duplicates count once, removed one by one or all', async (t) => {
  const { schedules } = await aScheduler(t)
  for (const url of ['mailto://me:secret@host', 'https://host/hook?x=1', 'mailto:me@host', 'https://host/hook?x=1'])
    await schedules.addOutgoing('scan', url)
  assert.deepEqual(schedules.outgoing(), {
    scan: { urls: ['mailto://me:secret@host', 'https://host/hook?x=1', 'mailto:me@host'], title: 'Scan' },
  })

  const bad = [
    '',
    'host/hook',
    '://x',
    'https://',
    'https://a b',
    'https://a\nb',
    `https://${'x'.repeat(2000)}`,
    'javascript:alert(1)',
  ]
  for (const url of bad) await assert.rejects(schedules.addOutgoing('scan', url), { code: 'bad_request' }, url)
  for (const task of ['check', 'nothing'])
    await assert.rejects(schedules.addOutgoing(task, 'https://host'), { code: 'bad_request' })

  await schedules.removeOutgoing('scan', 'mailto:me@host')
  await assert.rejects(schedules.removeOutgoing('scan', 'mailto:me@host'), { code: 'not_found' })
  await schedules.removeOutgoing('scan')
  await assert.rejects(schedules.removeOutgoing('scan'), { code: 'not_found' })
  assert.deepEqual(schedules.outgoing(), {})

  for (let number = 0; number < 50; number++) await schedules.addOutgoing('scan', `https://host/${number}`)
  await assert.rejects(schedules.addOutgoing('scan', 'https://host/one-more'), { code: 'conflict' })
  assert.equal(schedules.outgoing().scan?.urls.length, 50)
})

test('a schedule that is set while it is removed is answered as it was set', async (t) => {
  const it = await aScheduler(t)
  const [set, removed] = await Promise.allSettled([it.schedules.set('check', '0 5 *'), it.schedules.remove('check')])
  assert.deepEqual([set.status, removed.status], ['fulfilled', 'fulfilled'])
  assert.equal(set.status === 'fulfilled' && set.value.schedule, '0 5 *')
  assert.equal(it.schedules.get('check'), undefined)
})

test('the last result of a scheduled task is stored with its schedule, as template and values, whoever started it', async (t) => {
  const it = await aScheduler(t)
  await it.schedules.set('count', '0 12 *')
  const job = await it.jobs.start('count')
  await it.jobs.ended(job.id)
  await it.clock.advance(0)

  const record = it.schedules.get('count')

  assert.equal(record?.last_status, 'SUCCESS')
  assert.equal(record?.last_ended_at, new Date(it.clock.now()).toISOString())
  assert.equal(record?.last_run_at, null)
  assert.equal(record?.last_result, '3 boats')
  assert.deepEqual(record?.said, { '3 boats': { key: '{count} boats', params: { count: 3 } } })
})
