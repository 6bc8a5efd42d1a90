/** Postponed starts: `afterSeconds` and `replace`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { defineTask } from '../../../core/plugin/define.ts'
import { gate, openWorkshop } from './workshop.ts'

function aTask(more: object = {}) {
  const ran: string[] = []
  const task = defineTask({
    ...{ name: 'tell', title: 'Tell', lane: 'light', unique: true },
    payload: Type.Object({ word: Type.String() }),
    run: async ({ payload }) => void ran.push(payload.word),
    ...more,
  })
  return { ran, task }
}

test('a postponed start waits in its row, across a restart and a wrong clock, and begins at its time', async (t) => {
  const { ran, task } = aTask({ unique: undefined })
  const first = await openWorkshop(t, [task])
  await first.jobs.begin()
  const { id, state } = await first.jobs.start(task, { word: 'a' }, { afterSeconds: 600 })
  await first.clock.advance(300_000)
  await first.close()
  const { jobs, clock } = await first.reopen()
  await jobs.begin()
  await clock.advance(299_000)

  assert.deepEqual([state, jobs.get(id)?.state, ran], ['RETRY', 'RETRY', []])
  await clock.advance(1_000)
  assert.deepEqual([jobs.get(id)?.state, jobs.get(id)?.retries, ran], ['SUCCESS', 0, ['a']])

  clock.set('2038-01-19T00:00:00Z')
  await jobs.start(task, { word: 'b' }, { afterSeconds: 60 })
  clock.set('2026-01-15T11:00:00Z')
  await clock.advance(60_000)
  assert.deepEqual(ran, ['a', 'b'])
})

test('a second start keeps the time of the first; one with `replace` restarts the wait; an immediate one ends it', async (t) => {
  const { ran, task } = aTask()
  const { jobs, clock } = await openWorkshop(t, [task])
  await jobs.begin()
  const put = (word: string, more: object = {}) => jobs.start(task, { word }, { afterSeconds: 10, ...more })

  await put('a')
  await clock.advance(6_000)
  await put('b')
  await clock.advance(4_000)
  assert.deepEqual(ran, ['b'])

  await put('c')
  await clock.advance(6_000)
  await put('d', { replace: true })
  await clock.advance(9_000)
  assert.deepEqual(ran, ['b'])
  await clock.advance(1_000)
  assert.deepEqual(ran, ['b', 'd'])

  await put('e')
  await jobs.start(task, { word: 'f' })
  await clock.advance(0)
  assert.deepEqual(ran, ['b', 'd', 'f'])
  await clock.advance(20_000)
  assert.equal(ran.length, 3)
})

test('if the task is running, it runs once more at that time; an immediate start is not postponed', async (t) => {
  const held = [gate(), gate()]
  let runs = 0
  const { task } = aTask({ run: async () => held[runs++]?.passed })
  const { jobs, clock } = await openWorkshop(t, [task])
  await jobs.begin()
  const { id } = await jobs.start(task, { word: 'a' })
  await clock.advance(0)

  await jobs.start(task, { word: 'b' }, { afterSeconds: 60 })
  held[0]!.open()
  await clock.advance(30_000)
  assert.deepEqual([runs, jobs.get(id)?.state], [1, 'RETRY'])
  await clock.advance(30_000)
  assert.deepEqual([runs, jobs.get(id)?.state], [2, 'STARTED'])

  await jobs.start(task, { word: 'c' })
  await jobs.start(task, { word: 'd' }, { afterSeconds: 60 })
  held[1]!.open()
  await clock.advance(0)
  assert.deepEqual([runs, jobs.get(id)?.state], [3, 'SUCCESS'])
})

test('a job that waits for its time can be stopped, and a task that cannot be postponed is refused', async (t) => {
  const { ran, task } = aTask({ apiStop: true })
  const many = defineTask({
    ...{ name: 'many', title: 'Many', payload: Type.Object({}), lane: 'light' },
    run: async () => null,
  })
  const { jobs, clock } = await openWorkshop(t, [task, many])
  await jobs.begin()
  const { id } = await jobs.start(task, { word: 'a' }, { afterSeconds: 60 })

  await jobs.command(id, 'STOP')
  await clock.advance(60_000)

  assert.deepEqual([jobs.get(id)?.state, ran], ['SUCCESS', []])
  for (const afterSeconds of [-1, 31 * 86_400, Number.NaN])
    await assert.rejects(jobs.start(many, {}, { afterSeconds }), {
      code: 'bad_request',
      message: /at most 30 days/,
    })
  await assert.rejects(jobs.start(many, {}, { replace: true }), { message: /“Many” is not unique/ })
})
