import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Type } from 'typebox'
import { RUNS_END_WITHIN_MS } from '../../../core/jobs/stop.ts'
import { defineTask } from '../../../core/plugin/define.ts'
import { bundledChild } from '../../support/child.ts'
import { aborted, aTask, gate, openWorkshop, temporaryFolder } from './workshop.ts'

const child = await bundledChild(new URL('./crash-child.ts', import.meta.url))
async function runChild(folder: string, killAt: string): Promise<{ signal: string | null; said: string }> {
  const process = spawn(globalThis.process.execPath, [child, folder, killAt], { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  process.stdout.on('data', (part) => (said += String(part)))
  const [, signal] = (await once(process, 'close')) as [number | null, string | null]
  return { signal, said }
}

test('after a kill before or after any step, the next start finishes the job', async (t) => {
  const cases: Array<[string, string[], object]> = [
    ['inner before first', [], { task: 'inner', state: 'SUCCESS', result: 'whole' }],
    ['inner after second', ['first', 'second'], { task: 'inner', state: 'SUCCESS', result: 'whole' }],
    ['resumable before third', ['first', 'second'], { task: 'resumable', state: 'SUCCESS', result: 'whole' }],
    ['once after first', ['first'], { task: 'once', state: 'FAILED', result: 'Interrupted when the server stopped' }],
  ]
  await Promise.all(
    cases.map(async ([killAt, before, expected]) => {
      const folder = temporaryFolder(t)
      const done = () =>
        existsSync(join(folder, 'done.txt')) ? readFileSync(join(folder, 'done.txt'), 'utf8').trim().split('\n') : []
      assert.equal((await runChild(folder, killAt)).signal, 'SIGKILL', killAt)
      assert.deepEqual(done(), before, killAt)

      const { said } = await runChild(folder, '')
      assert.deepEqual(JSON.parse(said), [expected], killAt)
      assert.deepEqual(
        done(),
        'state' in expected && expected.state === 'FAILED' ? before : [...before, 'first', 'second', 'third'],
        killAt,
      )
    }),
  )
})

test('a crash keeps commands and start requests that arrived meanwhile', async (t) => {
  const task = defineTask({
    name: 'task',
    title: 'Task',
    payload: Type.Object({ key: Type.String() }),
    lane: 'light',
    apiStop: true,
    unique: ({ key }) => key,
    run: async () => 'ran again',
  })
  const { jobs, ledger, reopen } = await openWorkshop(t, [task])
  const ids = new Map<string, string>()
  for (const key of ['plain', 'again', 'STOP', 'KILL', 'waiting']) ids.set(key, (await jobs.start(task, { key })).id)
  // Rows as a process leaves them that dies halfway.
  await ledger.write(() => {
    ledger.sql(`UPDATE jobs SET state = 'STARTED', started_at = 1 WHERE id <> ?`).run(ids.get('waiting'))
    ledger.sql(`UPDATE jobs SET again = 1 WHERE id = ?`).run(ids.get('again'))
    for (const command of ['STOP', 'KILL'])
      ledger.sql('UPDATE jobs SET command = ? WHERE id = ?').run(command, ids.get(command))
  })

  const next = await reopen()
  await next.jobs.begin()

  const found = await Promise.all(
    [...ids].map(async ([key, id]) => [key, (await next.jobs.ended(id)).state, next.jobs.get(id)?.result]),
  )
  assert.deepEqual(found, [
    ['plain', 'FAILED', 'Interrupted when the server stopped'],
    ['again', 'SUCCESS', 'ran again'],
    ['STOP', 'SUCCESS', null],
    ['KILL', 'REVOKED', null],
    ['waiting', 'SUCCESS', 'ran again'],
  ])
})

test('rows of a task without its plugin wait until it is back, and can be ended; others move to their task’s lane', async (t) => {
  const gone = aTask('gone', { run: async () => undefined })
  const moved = aTask('moved', {
    run: async () => undefined,
  })
  const first = await openWorkshop(t, [gone, moved])
  const ids = [(await first.jobs.start(gone)).id, (await first.jobs.start(moved)).id]
  const unwanted = (await first.jobs.start(gone)).id

  const second = await first.reopen([defineTask({ ...moved, lane: 'index' })])
  const { jobs, clock } = second
  await jobs.begin()
  await clock.advance(0)

  assert.deepEqual(
    ids.map((id) => jobs.get(id)?.state),
    ['PENDING', 'SUCCESS'],
  )
  await jobs.command(unwanted, 'KILL')
  const back = await second.reopen([gone, moved])
  await back.jobs.begin()
  await clock.advance(0)
  assert.deepEqual(
    [...ids, unwanted].map((id) => back.jobs.get(id)?.state),
    ['SUCCESS', 'SUCCESS', 'REVOKED'],
  )
})

test('a close returns running jobs: resumable and internal ones wait, others have failed, within 10 s', async (t) => {
  const began = [gate(), gate(), gate(), gate()]
  const honest =
    (at: number) =>
    async ({ signal }: { signal: AbortSignal }) => {
      began[at]?.open()
      return aborted(signal)
    }
  const tasks = [
    aTask('resumable', { title: 'R', resumable: true, run: honest(0) }),
    aTask('inner', { title: '', internal: true, run: honest(1) }),
    aTask('once', { title: 'O', run: honest(2) }),
    aTask('deaf', {
      title: 'D',
      resumable: true,
      run: () => {
        began[3]?.open()
        return new Promise<void>(() => undefined)
      },
    }),
  ]
  const { jobs, clock, ledger } = await openWorkshop(t, tasks)
  await jobs.begin()
  const [resumable, once, deaf] = [await jobs.start('resumable'), await jobs.start('once'), await jobs.start('deaf')]
  const refused = assert.rejects(jobs.run('inner'), { code: 'unavailable' })
  const waiting = assert.rejects(jobs.ended(resumable.id), { code: 'unavailable' })
  await Promise.all(began.map((one) => one.passed))

  const closed = jobs.close()
  await refused
  await clock.advance(RUNS_END_WITHIN_MS)
  await closed
  await waiting

  assert.deepEqual(
    [resumable, once, deaf].map(({ id }) => jobs.get(id)?.state),
    ['PENDING', 'FAILED', 'PENDING'],
  )
  assert.equal(jobs.active('inner')?.state, 'PENDING')
  await assert.rejects(jobs.run('inner'), { code: 'unavailable' })
  assert.equal((await jobs.start('once')).state, 'PENDING', 'what is asked for now waits for the next start')
  assert.deepEqual(ledger.sql('SELECT 1 FROM jobs WHERE state = ?').all('STARTED'), [])
})
