import assert from 'node:assert/strict'
import { test } from 'node:test'
import { say, sentenceOf } from '../../../core/base/say.ts'
import { aborted, aTask, gate, openWorkshop } from './workshop.ts'

test('a message exists as long as its job, shows the result for 5 s, and disappears', async (t) => {
  const held = gate()
  const task = aTask('task', {
    title: 'Rescan',
    group: 'a:scan',
    apiStart: true,
    apiStop: true,
    run: () => held.passed.then(() => '3 found'),
  })
  const { jobs, clock } = await openWorkshop(t, [task])
  const { id } = await jobs.start(task)
  assert.deepEqual(jobs.notifications(), [], 'none before it begins')

  await jobs.begin()
  await clock.advance(60_000)
  const flags = { 'api-start': true, 'api-stop': true, api_start: true, api_stop: true }
  assert.deepEqual(jobs.notifications(), [
    {
      id,
      task_name: 'task',
      title: 'Rescan',
      group: 'a:scan',
      ...flags,
      level: 'info',
      command: false,
      messages: ['new task received'],
      progress: 0,
    },
  ])

  await jobs.command(id, 'STOP')
  assert.equal(jobs.notifications()[0]?.command, 'STOP')

  held.open()
  await clock.advance(4_999)
  assert.deepEqual(
    jobs.notifications().map(({ messages, level, progress }) => [messages, level, progress]),
    [[['3 found'], 'info', 1]],
  )
  let changes = 0
  jobs.watch(({ notifications }) => notifications && changes++)
  await clock.advance(1)
  assert.deepEqual(jobs.notifications(), [])
  assert.equal(changes, 1, 'its going is told')
})

test('a failure is shown for 20 s, a kill removes the message at once', async (t) => {
  const fail = aTask('fail', {
    run: () => Promise.reject(new Error('disk away')),
  })
  const wait = aTask('wait', {
    apiStop: true,
    run: ({ signal }) => aborted(signal),
  })
  const { jobs, clock } = await openWorkshop(t, [fail, wait])
  await jobs.begin()
  await jobs.start(fail)
  const { id } = await jobs.start(wait)
  await clock.advance(19_999)
  assert.deepEqual(
    jobs.notifications().map(({ title, level, messages }) => [title, level, messages]),
    [
      ['Fail', 'error', ['disk away']],
      ['Wait', 'info', ['new task received']],
    ],
  )

  await jobs.command(id, 'KILL')
  await jobs.ended(id)
  await clock.advance(0)
  assert.deepEqual(
    jobs.notifications().map(({ title }) => title),
    ['Fail'],
  )

  await clock.advance(1)
  assert.deepEqual(jobs.notifications(), [])
})

test('internal and silent tasks show nothing', async (t) => {
  const held = gate()
  const run = () => held.passed
  const tasks = [aTask('inner', { title: '', internal: true, run }), aTask('quiet', { silent: true, run })]
  const { jobs, clock } = await openWorkshop(t, tasks)
  await jobs.begin()
  for (const task of tasks) await jobs.start(task)
  await clock.advance(1000)

  assert.deepEqual(jobs.notifications(), [])
  held.open()
})

test('progress is written at once, then at intervals, and the last report always', async (t) => {
  let report: (fraction: number, ...messages: string[]) => void = () => undefined
  const held = gate()
  const task = aTask('task', {
    run: ({ progress }) => {
      report = progress
      return held.passed
    },
  })
  const { jobs, clock, ledger } = await openWorkshop(t, [task])
  await jobs.begin()
  await jobs.start(task)
  await clock.advance(0)
  const shown = () => jobs.notifications().map(({ messages, progress }) => [...messages, progress])[0]

  report(0.1, 'one of ten')
  await clock.advance(0)
  assert.deepEqual(shown(), ['one of ten', 0.1])

  const changes = () => ledger.sql<{ n: number }>('SELECT total_changes() AS n').get()?.n ?? 0
  const before = changes()
  for (let number = 0; number <= 1000; number++) report(number / 1000, `${number} of 1000`)
  await clock.advance(100)
  assert.deepEqual(shown(), ['one of ten', 0.1])
  await clock.advance(1000)
  assert.deepEqual(shown(), ['1000 of 1000', 1])
  assert.equal(changes() - before, 1)

  report(Number.NaN)
  await clock.advance(1000)
  assert.deepEqual(shown(), ['1000 of 1000', 0], 'without a text the last one stays')
  report(7, 'too much')
  await clock.advance(1000)
  assert.deepEqual(shown(), ['too much', 1])
  held.open()
})

test('messages of an earlier process are removed at the start; a job that continues gets a new one', async (t) => {
  const gates = [gate(), gate()]
  let runs = 0
  const task = aTask('task', {
    resumable: true,
    run: ({ signal }) => Promise.race([gates[runs++]!.passed, aborted(signal)]),
  })
  const first = await openWorkshop(t, [task])
  await first.jobs.begin()
  const { id } = await first.jobs.start(task)
  await first.jobs.notify({ title: 'Cookie', group: 'setting:application', level: 'error', messages: ['no good'] })
  assert.deepEqual(
    first.jobs.notifications().map(({ title }) => title),
    ['Task', 'Cookie'],
  )

  const second = await first.reopen()
  await second.jobs.begin()
  await second.clock.advance(0)
  assert.deepEqual(
    second.jobs.notifications().map(({ id, messages }) => [id, messages]),
    [[id, ['new task received']]],
  )
  gates[1]?.open()
})

test('a message without a job is shown for 20 s, and a repeated failure does not fill the page', async (t) => {
  const { jobs, clock } = await openWorkshop(t, [])
  await jobs.begin()
  for (let number = 0; number < 60; number++)
    await jobs.notify({ title: `Fault ${number}`, group: 'setting:application', level: 'error', messages: ['no good'] })

  assert.equal(jobs.notifications().length, 20)
  assert.equal(jobs.notifications().at(-1)?.title, 'Fault 59')
  assert.equal(jobs.notifications()[0]?.command, false)
  await clock.advance(20_000)
  assert.deepEqual(jobs.notifications(), [])
})

test('simultaneous messages keep their audience and their expiry', async (t) => {
  const { jobs } = await openWorkshop(t, [])
  await jobs.begin()
  let isAnswered = false
  const isOver = () => isAnswered
  const ask = (title: string) =>
    jobs.notify({ title, group: 'ask', level: 'info', messages: [title], isOver, isForAdmins: true })
  await Promise.all([ask('first'), ask('second'), jobs.warn('Disk', say`nearly full`)])
  const titles = (isAdmin: boolean) => jobs.notifications(isAdmin).map(({ title }) => title)
  assert.deepEqual([titles(true), titles(false)], [['first', 'second', 'Disk'], ['Disk']])
  isAnswered = true
  assert.deepEqual(titles(true), ['Disk'])
})

test('progress, results and messages keep their template and values with the English text', async (t) => {
  const secret = 'https://name:secret@example.org/'
  const held = gate()
  const report = aTask('count_boats', {
    title: 'Count boats',
    async run({ progress }) {
      progress(0.5, say`Found ${{ count: 1200 }} boats in ${{ place: sentenceOf('the harbour') }}`)
      await held.passed
      return say`${{ count: 1200 }} boats, read from ${{ from: secret }}`
    },
  })
  const { jobs, reopen, clock } = await openWorkshop(t, [report])
  await jobs.begin()

  const { id } = await jobs.start('count_boats')
  await clock.advance(1000)
  const [running] = jobs.notifications()
  held.open()
  await jobs.ended(id)
  const [ended] = jobs.notifications()
  await jobs.notify({ of: report, level: 'error', messages: [say`No boats`, say`${{ name: 'Tern' }} is gone`] })
  const told = jobs.notifications().at(-1)!

  const found = 'Found 1200 boats in the harbour'
  assert.deepEqual([running?.task_name, running?.messages], ['count_boats', [found]])
  assert.deepEqual(running?.said, {
    [found]: {
      key: 'Found {count} boats in {place}',
      params: { count: 1200, place: { key: 'the harbour', params: {} } },
    },
  })
  const [read] = ended!.messages
  assert.equal(read?.includes('secret'), false)
  assert.deepEqual(ended?.said?.[read!]?.key, '{count} boats, read from {from}')
  assert.equal(JSON.stringify(ended).includes('secret'), false)
  assert.deepEqual(
    [told.title, told.task_name, told.messages],
    ['Count boats', 'count_boats', ['No boats', 'Tern is gone']],
  )
  assert.deepEqual(Object.keys(told.said ?? {}), ['Tern is gone'])

  await clock.advance(1)
  const next = await reopen()
  assert.equal(next.jobs.get(id)?.result, read)
  assert.equal(next.jobs.get(id)?.said?.key, '{count} boats, read from {from}')
})
