import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { Type } from 'typebox'
import { errors } from '../../../core/base/error.ts'
import type { Job } from '../../../core/jobs/types.ts'
import { defineTask } from '../../../core/plugin/define.ts'
import { aborted, aTask, gate, openWorkshop, until } from './workshop.ts'
import '../../support/slow.ts'

test('a job goes from PENDING to STARTED to SUCCESS, and its result is stored', async (t) => {
  const held = gate()
  const work = defineTask({
    name: 'work',
    title: 'Work',
    payload: Type.Object({ n: Type.Integer(), unit: Type.String({ default: 'm' }) }),
    lane: 'light',
    run: async ({ payload }) => held.passed.then(() => `${payload.n} ${payload.unit}`),
  })
  const { jobs } = await openWorkshop(t, [work])
  const seen: string[] = []
  jobs.watch(({ job }) => job && seen.push(job.state))

  const accepted = await jobs.start(work, { n: 3 })
  assert.equal(accepted.state, 'PENDING')
  await jobs.begin()
  held.open()
  const ended = await jobs.ended(accepted.id)

  assert.deepEqual([ended.state, ended.result, ended.traceback], ['SUCCESS', '3 m', null])
  assert.ok(ended.startedAt !== null && ended.endedAt !== null)
  assert.deepEqual(seen, ['PENDING', 'STARTED', 'SUCCESS'])
  assert.deepEqual(jobs.get(accepted.id), ended)
})

test('a start that is impossible is refused by name', async (t) => {
  const work = defineTask({
    name: 'work',
    title: 'Work',
    payload: Type.Object({ n: Type.Integer() }),
    lane: 'light',
    run: async () => undefined,
  })
  const { jobs } = await openWorkshop(t, [work])

  await assert.rejects(jobs.start('nothing'), { code: 'not_found' })
  await assert.rejects(jobs.start(work, { n: 'three' }), { code: 'bad_request', message: /^“Work” can’t start: / })
  await assert.rejects(jobs.start(work), { code: 'bad_request' })
  assert.deepEqual(jobs.list(), [])
})

test('a failure ends the job with its message; the traceback is stored only in debug mode', async (t) => {
  const fail = aTask('fail', {
    run: () => Promise.reject(new Error('no route to https://me:secret@host/x')),
  })
  for (const debug of [false, true]) {
    const { jobs } = await openWorkshop(t, [fail], { debug })
    await jobs.begin()

    const ended = await jobs.ended((await jobs.start(fail)).id)

    assert.deepEqual([ended.state, ended.result], ['FAILURE', 'no route to https://***@host/x'])
    assert.equal(ended.traceback !== null, debug)
  }
})

test('a system error is reported by its code, without paths of this machine', async (t) => {
  const fail = aTask('fail', {
    run: () => readFile('/srv/nowhere/private').then(() => undefined),
  })
  const { jobs } = await openWorkshop(t, [fail])
  await jobs.begin()

  const ended = await jobs.ended((await jobs.start(fail)).id)

  assert.equal(ended.result, 'ENOENT: no such file or directory')
  assert.doesNotMatch(JSON.stringify(jobs.notifications()), /nowhere/)
})

test('unavailable and unknown errors are retried at their time, others fail at once', async (t) => {
  const thrown: Record<string, () => Error> = {
    unavailable: () => errors.unavailable('away'),
    unknown: () => new Error('odd'),
    conflict: () => errors.conflict('no'),
  }
  for (const [name, error] of Object.entries(thrown)) {
    let runs = 0
    const task = aTask('task', {
      retries: { times: 2, delaySeconds: 60 },
      async run() {
        if (++runs < 3) throw error()
        return 'at last'
      },
    })
    const { jobs, clock, close } = await openWorkshop(t, [task])
    await jobs.begin()
    const { id } = await jobs.start(task)
    await clock.advance(59_000)

    assert.deepEqual([runs, jobs.get(id)?.state], [1, name === 'conflict' ? 'FAILURE' : 'RETRY'], name)

    await clock.advance(120_000)
    assert.deepEqual(
      [runs, jobs.get(id)?.state, jobs.get(id)?.result],
      name === 'conflict' ? [1, 'FAILURE', 'no'] : [3, 'SUCCESS', 'at last'],
      name,
    )
    await close()
  }
})

test('a retry waits the same time, whatever happens to the clock', async (t) => {
  for (const [wrong, then] of [['2026-01-15T09:00:00Z'], ['2038-01-19T00:00:00Z', '2026-01-15T10:00:00Z']]) {
    let runs = 0
    const task = aTask('task', {
      retries: { times: 1, delaySeconds: 60 },
      async run() {
        if (++runs === 1) throw errors.unavailable('away')
      },
    })
    const { jobs, clock, close } = await openWorkshop(t, [task])
    await jobs.begin()
    if (then) clock.set(wrong!)
    await jobs.start(task)
    await clock.advance(0)
    clock.set(then ?? wrong!)

    await clock.advance(61_000)

    assert.equal(runs, 2, wrong!)
    await close()
  }
})

test('a second start of a pending unique task returns its id', async (t) => {
  let runs = 0
  const unique = aTask('unique', {
    lane: 'index',
    unique: true,
    run: async () => void runs++,
  })
  const { jobs } = await openWorkshop(t, [unique])
  const [one, two] = await Promise.all([jobs.start(unique), jobs.start(unique)])
  await jobs.begin()
  await jobs.ended(one.id)

  assert.equal(two.id, one.id)
  assert.equal(runs, 1)
})

test('a start in the last step of a running unique task runs it once more: no wake-up is lost', async (t) => {
  const runs: unknown[] = []
  const current: unknown[] = []
  const gates = [gate(), gate()]
  const unique = defineTask({
    name: 'unique',
    title: 'Unique',
    payload: Type.Object({ all: Type.Boolean() }),
    lane: 'index',
    unique: true,
    merge: (before, asked) => ({ all: before.all || asked.all }),
    async run(job) {
      runs.push(job.payload.all)
      await gates[runs.length - 1]?.passed
      current.push(job.current().all)
      return `run ${runs.length}`
    },
  })
  const { jobs, clock } = await openWorkshop(t, [unique])
  await jobs.begin()
  const endings: Array<string | null> = []
  jobs.onEnded((run) => endings.push(run.result))
  const first = await jobs.start(unique, { all: false })
  const ended = jobs.ended(first.id)

  // Several starts during a run cause one more run, with the widest payload.
  const again = await Promise.all([jobs.start(unique, { all: true }), jobs.start(unique, { all: false })])
  assert.deepEqual(
    again.map((job) => [job.id, job.again]),
    [
      [first.id, true],
      [first.id, true],
    ],
  )
  gates[0]?.open()
  await clock.advance(0)
  assert.equal(jobs.get(first.id)?.state, 'STARTED')
  gates[1]?.open()

  assert.equal((await ended).result, 'run 2')
  assert.deepEqual(runs, [false, true])
  assert.deepEqual(current, [true, true])
  assert.deepEqual(endings, ['run 1', 'run 2'])
})

test('wake-ups at every moment of a run are all followed by a run', async (t) => {
  let asked = 0
  let done = 0
  const unique = aTask('unique', {
    unique: true,
    run: async () => void (done = asked),
  })
  const { jobs, clock } = await openWorkshop(t, [unique])
  await jobs.begin()

  for (let number = 0; number < 300; number++) {
    asked++
    const starting = jobs.start(unique)
    for (let turn = 0; turn < number % 4; turn++) await new Promise((resolve) => setImmediate(resolve))
    if (number % 3 === 0) await starting
  }
  await clock.advance(0)
  const last = jobs.active('unique')
  if (last) await jobs.ended(last.id)

  assert.equal(done, asked)
})

test('unique by key: one at a time per key, different keys in parallel', async (t) => {
  const held = gate()
  const running: string[] = []
  const keyed = defineTask({
    name: 'keyed',
    title: 'Keyed',
    payload: Type.Object({ id: Type.String() }),
    lane: 'light',
    unique: ({ id }) => id,
    run: ({ payload }) => {
      running.push(payload.id)
      return held.passed
    },
  })
  const { jobs, clock } = await openWorkshop(t, [keyed])
  await jobs.begin()

  const ids = (await Promise.all(['a', 'b', 'a'].map((id) => jobs.start(keyed, { id })))).map((job) => job.id)
  await clock.advance(0)

  assert.equal(new Set(ids).size, 2)
  assert.deepEqual(running, ['a', 'b'])
  held.open()
})

test('the index lane runs one job at a time, the light lane four, others their declared number, a lane of turns starts eight', async (t) => {
  const places: Record<string, number> = { index: 1, light: 4, item: 8, copy: 1, sent: 3 }
  for (const [lane, expected] of Object.entries(places)) {
    let now = 0
    let most = 0
    const task = aTask('task', {
      lane,
      async run() {
        most = Math.max(most, ++now)
        await new Promise((resolve) => setImmediate(resolve))
        now--
      },
    })
    const { jobs } = await openWorkshop(t, [task], { sizes: { copy: 1, sent: 3 } })
    await jobs.begin()
    const started = await Promise.all(Array.from({ length: 20 }, () => jobs.start(task)))
    await Promise.all(started.map((job) => jobs.ended(job.id)))

    assert.equal(most, expected, lane)
  }
})

test('run returns the result, does not wait for its lane, and rethrows the task’s error', async (t) => {
  const held = gate()
  const busy = aTask('busy', { lane: 'index', run: () => held.passed })
  const remove = defineTask({
    name: 'remove',
    title: '',
    payload: Type.Object({ id: Type.String() }),
    lane: 'index',
    internal: true,
    run: async ({ payload }) =>
      payload.id === 'gone' ? Promise.reject(errors.notFound('thing', payload.id)) : `removed ${payload.id}`,
  })
  const { jobs } = await openWorkshop(t, [busy, remove])
  await jobs.begin()
  await jobs.start(busy)

  assert.equal(await jobs.run(remove, { id: 'x' }), 'removed x')
  await assert.rejects(jobs.run(remove, { id: 'gone' }), { code: 'not_found' })
  assert.deepEqual(
    jobs.list().map((job) => job.task),
    ['busy'],
    'internal jobs are not listed',
  )
  held.open()
})

test('a second run with the same key waits for the result of the first, including its error', async (t) => {
  let runs = 0
  const gates = [gate(), gate()]
  const remove = defineTask({
    name: 'remove',
    title: '',
    payload: Type.Object({ id: Type.String() }),
    lane: 'index',
    internal: true,
    unique: ({ id }) => id,
    async run() {
      await gates[runs++]?.passed
      return 'done'
    },
  })
  const { jobs } = await openWorkshop(t, [remove])
  await jobs.begin()

  const both = [jobs.run(remove, { id: 'x' }), jobs.run(remove, { id: 'x' })]
  gates[0]?.open()
  assert.deepEqual(await Promise.all(both), ['done', 'done'])
  assert.equal(runs, 1)

  const failing = [jobs.run(remove, { id: 'x' }), jobs.run(remove, { id: 'x' })]
  gates[1]?.fail(errors.unavailable('disk away'))
  for (const one of failing) await assert.rejects(one, { code: 'unavailable', message: 'disk away' })
  assert.equal(runs, 2)
})

test('run takes over a pending row', async (t) => {
  const held = gate()
  const busy = aTask('busy', { lane: 'index', run: () => held.passed })
  const move = defineTask({
    name: 'move',
    title: '',
    payload: Type.Object({ to: Type.String() }),
    lane: 'index',
    internal: true,
    unique: true,
    run: async ({ payload }) => payload.to,
  })
  const { jobs } = await openWorkshop(t, [busy, move])
  await jobs.begin()
  await jobs.start(busy)
  const waiting = await jobs.start(move, { to: 'a' })

  assert.equal(await jobs.run(move, { to: 'b' }), 'b')
  assert.equal(jobs.get(waiting.id)?.state, 'SUCCESS')
  held.open()
})

test('stop lets a job end by itself, kill aborts it', async (t) => {
  const began = { stop: gate(), kill: gate() }
  const task = defineTask({
    name: 'task',
    title: 'Task',
    payload: Type.Object({ how: Type.Union([Type.Literal('stop'), Type.Literal('kill')]) }),
    lane: 'light',
    apiStop: true,
    async run({ payload, isStopping, signal }) {
      began[payload.how].open()
      if (payload.how === 'kill') await aborted(signal)
      while (!isStopping()) await new Promise((resolve) => setImmediate(resolve))
      return 'half of it'
    },
  })
  const { jobs } = await openWorkshop(t, [task])
  await jobs.begin()
  const stopped = await jobs.start(task, { how: 'stop' })
  const killed = await jobs.start(task, { how: 'kill' })
  await Promise.all([began.stop.passed, began.kill.passed])

  await jobs.command(stopped.id, 'STOP')
  await jobs.command(killed.id, 'KILL')

  const parts = ({ state, result, command }: Job) => [state, result, command]
  assert.deepEqual(parts(await jobs.ended(stopped.id)), ['SUCCESS', 'half of it', 'STOP'])
  assert.deepEqual(parts(await jobs.ended(killed.id)), ['REVOKED', null, 'KILL'])
})

test('commands are refused for an unknown id, a task without commands, and a job that has ended', async (t) => {
  const deaf = aTask('deaf', { run: async () => undefined })
  const task = defineTask({ ...deaf, name: 'task', apiStop: true })
  const { jobs } = await openWorkshop(t, [deaf, task])
  const unheard = await jobs.start(deaf)
  const over = await jobs.start(task)
  const waiting = await jobs.start(task)
  await jobs.command(waiting.id, 'KILL')
  await jobs.begin()
  await jobs.ended(over.id)

  await assert.rejects(jobs.command('00000000-0000-4000-8000-000000000000', 'STOP'), { code: 'not_found' })
  await assert.rejects(jobs.command(unheard.id, 'STOP'), { code: 'bad_request' })
  await assert.rejects(jobs.command(over.id, 'STOP'), { code: 'conflict' })
  assert.equal(jobs.get(waiting.id)?.state, 'REVOKED', 'one that waited never runs')
})

test('stop and kill cancel an earlier wake-up, but not a later one', async (t) => {
  for (const command of ['STOP', 'KILL'] as const) {
    let runs = 0
    const task = aTask('task', {
      apiStop: true,
      unique: true,
      async run({ isStopping, signal }) {
        if (++runs === 3) return
        while (!isStopping()) await new Promise((resolve) => setImmediate(resolve))
        signal.throwIfAborted()
      },
    })
    const { jobs } = await openWorkshop(t, [task])
    await jobs.begin()
    const { id } = await jobs.start(task)
    await jobs.start(task)
    await jobs.command(id, command)
    await jobs.ended(id)
    assert.equal(runs, 1, command)

    const second = await jobs.start(task)
    await Promise.all([jobs.command(second.id, command), jobs.start(task)])
    assert.equal((await jobs.ended(second.id)).state, 'SUCCESS')
    assert.equal(runs, 3, command)
  }
})

test('the next run does exactly what was requested after a stop', async (t) => {
  const runs: unknown[] = []
  const task = defineTask({
    name: 'task',
    title: 'Task',
    payload: Type.Object({ names: Type.Array(Type.String()) }),
    lane: 'light',
    apiStop: true,
    unique: true,
    merge: (before, asked) => ({ names: [...before.names, ...asked.names] }),
    async run({ payload, isStopping }) {
      runs.push(payload.names)
      while (runs.length === 1 && !isStopping()) await new Promise((resolve) => setImmediate(resolve))
    },
  })
  const { jobs } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task, { names: ['all'] })
  while (runs.length === 0) await new Promise((resolve) => setImmediate(resolve))

  const ended = jobs.ended(id)
  const stopped = jobs.command(id, 'STOP')
  await Promise.all([stopped, jobs.start(task, { names: ['one'] }), jobs.start(task, { names: ['another'] })])
  await ended

  assert.deepEqual(runs, [['all'], ['one', 'another']])
})

test('a stopped job that then fails has failed, is not retried, and keeps later requests', async (t) => {
  const runs: unknown[] = []
  const held = [gate(), gate(), gate()]
  const task = defineTask({
    name: 'task',
    title: 'Task',
    payload: Type.Object({ names: Type.Array(Type.String()) }),
    lane: 'light',
    apiStop: true,
    unique: true,
    resumable: true,
    retries: { times: 3, delaySeconds: 60 },
    merge: (before, asked) => ({ names: [...before.names, ...asked.names] }),
    async run({ payload, signal }) {
      const run = runs.push(payload.names)
      await Promise.race([held[run - 1]!.passed, aborted(signal)])
      if (run === 1) throw errors.unavailable('the platform is away')
    },
  })
  const shop = await openWorkshop(t, [task])
  await shop.jobs.begin()
  const first = await shop.jobs.start(task, { names: ['all'] })
  await until(() => runs.length === 1)

  await shop.jobs.command(first.id, 'STOP')
  held[0]!.open()
  const stopped = await shop.jobs.ended(first.id)
  await shop.clock.advance(61_000)
  const second = await shop.jobs.start(task, { names: ['one'] })
  await until(() => runs.length === 2)
  await shop.jobs.start(task, { names: ['two'] })
  const next = await shop.reopen()
  await next.jobs.begin()
  held[1]!.open()
  held[2]!.open()

  assert.deepEqual([stopped.state, stopped.result, stopped.command], ['FAILURE', 'the platform is away', 'STOP'])
  assert.equal((await next.jobs.ended(second.id)).state, 'SUCCESS')
  assert.deepEqual(runs, [['all'], ['one'], ['one', 'two']], 'a restart goes on with the work, and does not end it')
})

test('a job that was stopped when its plugin was removed has ended, and does not run when the plugin is back', async (t) => {
  let runs = 0
  const task = aTask('task', { apiStop: true, resumable: true, run: async () => void runs++ })
  const shop = await openWorkshop(t, [task])
  const { id } = await shop.jobs.start(task)
  await shop.ledger.write(() => shop.ledger.sql(`UPDATE jobs SET state = 'STARTED', command = 'STOP'`).run())
  const without = await shop.reopen([])
  await without.jobs.begin()

  const back = await without.reopen([task])
  await back.jobs.begin()
  await back.clock.advance(0)

  assert.deepEqual([back.jobs.get(id)?.state, runs], ['SUCCESS', 0])
})

test('a stop ends the wait of a task, and the task succeeds', async (t) => {
  const began = gate()
  const task = aTask('task', {
    apiStop: true,
    async run({ stopSignal }) {
      began.open()
      await aborted(stopSignal)
    },
  })
  const { jobs } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  await began.passed

  await jobs.command(id, 'STOP')

  assert.equal((await jobs.ended(id)).state, 'SUCCESS')
})

test('a start retries a job at once that waits for its retry; a wake-up does not shorten the wait', async (t) => {
  let runs = 0
  const task = aTask('task', {
    unique: true,
    retries: { times: 3, delaySeconds: 600, factor: 2 },
    async run() {
      runs++
      throw errors.unavailable('away')
    },
  })
  const { jobs, clock } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  await clock.advance(601_000)
  assert.deepEqual([runs, jobs.get(id)?.state, jobs.get(id)?.retries], [2, 'RETRY', 2])

  const woken = await jobs.start(task, {}, { isPatient: true })
  await clock.advance(0)
  assert.deepEqual([woken.id, runs], [id, 2])

  const met = await jobs.start(task)
  await clock.advance(0)
  assert.deepEqual([met.id, runs, jobs.get(id)?.retries], [id, 3, 1], 'its retries are before it once more')

  await clock.advance(599_000)
  assert.equal(runs, 3)
  await clock.advance(2_000)
  assert.equal(runs, 4)
})

test('a start during a run that fails is followed by a run at once', async (t) => {
  const held = gate()
  let runs = 0
  const task = aTask('task', {
    unique: true,
    retries: { times: 3, delaySeconds: 600 },
    async run() {
      if (++runs > 1) return
      await held.passed
      throw errors.unavailable('away')
    },
  })
  const { jobs } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  await until(() => runs === 1)
  await jobs.start(task)

  held.open()

  assert.equal((await jobs.ended(id)).state, 'SUCCESS')
  assert.equal(runs, 2)
})

test('the ledger refuses illegal transitions', async (t) => {
  const task = aTask('task', { run: async () => undefined })
  const { jobs, ledger } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  await jobs.ended(id)

  for (const state of ['PENDING', 'STARTED', 'RETRY', 'FAILURE', 'REVOKED', 'FAILED']) {
    await assert.rejects(
      ledger.write(() => ledger.sql('UPDATE jobs SET state = ? WHERE id = ?').run(state, id)),
      /cannot move/,
      state,
    )
  }
})

test('steps are stored in the row and announced before and after; none begins after a kill', async (t) => {
  const told: string[] = []
  const task = aTask('task', {
    apiStop: true,
    async run({ step, id }) {
      await step('one', () => told.push('work'))
      await step('two', () => jobs.command(id, 'KILL'))
      await step('three', () => told.push('never'))
    },
  })
  const workshop = await openWorkshop(t, [task])
  const { jobs, events, clock } = workshop
  events.listen('job.step', async ({ step, phase, id }) => {
    await clock.advance(0)
    told.push(`${phase} ${step}, row at ${jobs.get(id)?.step}`)
  })
  await jobs.begin()
  const ended = await jobs.ended((await jobs.start(task)).id)

  assert.deepEqual(told, [
    'before one, row at one',
    'work',
    'after one, row at one',
    'before two, row at two',
    'after two, row at two',
  ])
  assert.deepEqual([ended.state, ended.step], ['REVOKED', null])
})

test('the last 200 log lines of a job are stored with it, including those of its child logs', async (t) => {
  const task = aTask('task', {
    async run({ log, id }) {
      for (let line = 0; line < 250; line++) log.info({ line, password: 'secret' }, 'line %d', line)
      log.child({ part: 'x' }).warn({ err: new Error('why') }, 'from a child')
      assert.equal(jobs.logOf(id).length, 200)
    },
  })
  const { jobs, reopen } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  assert.equal((await jobs.ended(id)).state, 'SUCCESS')

  const later = await reopen()
  const lines = later.jobs.logOf(id)
  assert.deepEqual([lines.length, lines[0]?.message, lines[0]?.level], [200, 'line 51', 'info'])
  assert.deepEqual(lines.at(-1), { time: '2026-01-15T10:00:00.000Z', level: 'warn', message: 'from a child: why' })
})

test('ended jobs are deleted after a day, and the oldest beyond two thousand', async (t) => {
  const task = aTask('task', { run: async () => undefined })
  const { jobs, clock, ledger } = await openWorkshop(t, [task])
  await jobs.begin()
  const first = await jobs.start(task)
  await jobs.ended(first.id)
  await clock.advance(23 * 3600_000)
  assert.ok(jobs.get(first.id))
  await clock.advance(2 * 3600_000)
  assert.equal(jobs.get(first.id), undefined)

  const many = await Promise.all(Array.from({ length: 2200 }, () => jobs.start(task)))
  await Promise.all(many.map((job) => jobs.ended(job.id)))
  await clock.advance(2 * 3600_000)
  assert.equal(ledger.sql<{ n: number }>('SELECT count(*) AS n FROM jobs').get()?.n, 2000)
  assert.equal(jobs.get(many[0]!.id), undefined)
})

test('jobs that ended while the clock was ahead are deleted once it is right', async (t) => {
  const task = aTask('task', { run: async () => undefined })
  const { jobs, clock } = await openWorkshop(t, [task])
  await jobs.begin()
  const right = clock.now()
  clock.set(right + 4000 * 86_400_000)
  await jobs.ended((await jobs.start(task)).id)

  clock.set(right)
  const { id } = await jobs.start(task)
  await jobs.ended(id)
  await clock.advance(3600_000)

  assert.deepEqual(
    jobs.list().map((job) => job.id),
    [id],
  )
})

test('thousands of jobs are added, listed and claimed in linear time', async (t) => {
  const task = defineTask({
    name: 'task',
    title: 'Task',
    payload: Type.Object({ n: Type.Integer() }),
    lane: 'light',
    internal: true,
    run: async () => undefined,
  })
  const { jobs } = await openWorkshop(t, [task])
  const started = await Promise.all(Array.from({ length: 5000 }, (_, n) => jobs.start(task, { n })))
  const spans: number[] = []
  let ended = 0
  let since = process.cpuUsage()
  const all = new Promise<void>((resolve) =>
    jobs.onEnded(() => {
      if (++ended % 1000 === 0) {
        const { user, system } = process.cpuUsage(since)
        spans.push((user + system) / 1000)
        since = process.cpuUsage()
      }
      if (ended === started.length) resolve()
    }),
  )
  await jobs.begin()
  await all

  assert.ok(
    spans.at(-1)! < 4 * spans[0]! + 200,
    `milliseconds of the processor for each fifth: ${spans.map(Math.round).join(', ')}`,
  )
})

test('on a full disk the end of a job waits; nothing is lost and nothing crashes', async (t) => {
  const held = gate()
  const task = aTask('task', {
    run: () => held.passed.then(() => 'done'),
  })
  const { jobs, clock, ledger } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task)
  await clock.advance(0)
  const pages = ledger.sql<{ page_count: number }>('PRAGMA page_count').get()?.page_count ?? 0
  ledger.sql(`PRAGMA max_page_count = ${pages}`).get()
  const fill = async () => {
    for (;;) await jobs.start(task, { ballast: 'x'.repeat(100_000) })
  }
  await assert.rejects(fill(), { code: 'unavailable' })
  await assert.rejects(jobs.notify({ title: 'x', group: 'x', level: 'info', messages: ['y'.repeat(100_000)] }), {
    code: 'unavailable',
  })

  held.open()
  await clock.advance(10_000)
  ledger.sql(`PRAGMA max_page_count = ${pages * 100}`).get()
  await clock.advance(10_000)

  assert.deepEqual([jobs.get(id)?.state, jobs.get(id)?.result], ['SUCCESS', 'done'])
})
