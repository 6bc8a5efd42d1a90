/** The write barrier while a restore replaces everything. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isAppError } from '../../../core/base/error.ts'
import { openGarbled } from '../../../core/index/garbled.ts'
import { defineIndex } from '../../../core/index/mapping.ts'
import { guardWrites, waitAtBarrier } from '../../../core/index/write-barrier.ts'
import { openLog } from '../../../core/log.ts'
import { Type } from '../../../plugins/plugin-kit/public.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'
import { openSnapshotFolder } from '../../../plugins/sqlite/snapshot-folder.ts'
import { testClock } from '../../support/clock.ts'

const note = defineIndex({
  name: 'note',
  doc: Type.Object({ text: Type.String() }),
  fields: { text: { type: 'keyword', filter: true } },
})
const never = new AbortController().signal

async function given(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'av-gate-'))
  const [log, clock] = [openLog('silent'), testClock()]
  const adapter = await openSqliteIndex({
    file: join(folder, 'index.sqlite'),
    definitions: [note],
    log,
    clock,
  })
  t.after(async () => {
    await adapter.close()
    await rm(folder, { recursive: true })
  })
  const index = await guardWrites(
    adapter,
    (held) => openSnapshotFolder({ index: held, folder: join(folder, 'snapshots'), log, clock }),
    { lost: undefined, settle: async () => undefined },
    openGarbled(log).garbled,
  )
  const notes = index.collection(note)
  await notes.put('before', { text: 'x' })
  return { index, notes }
}

/** A restore that pauses until it is released. */
function aRestore(index: Awaited<ReturnType<typeof given>>['index']) {
  const { promise: letGo, resolve } = deferred()
  const begun = deferred()
  const ended = index.replaceAll(async (write) => {
    await write('note', [{ id: 'restored', doc: { text: 'y' } }])
    begun.resolve()
    await letGo
  })
  return { begun: begun.promise, finish: () => (resolve(), ended) }
}

function deferred() {
  let resolve!: () => void
  const promise = new Promise<void>((done) => (resolve = done))
  return { promise, resolve }
}

const isRefused = (error: unknown) =>
  isAppError(error, 'unavailable') && /restore is running/.test(error.message) && error.details.retryAfterSeconds === 10

test('during a restore every write is refused, and reads continue', async (t) => {
  const { index, notes } = await given(t)
  const restore = aRestore(index)
  await restore.begun

  const all = { eq: ['text', 'x'] } as { eq: ['text', string] }
  const writes: Record<string, () => Promise<unknown>> = {
    put: () => notes.put('a', { text: 'a' }),
    putMany: () => notes.putMany([{ id: 'a', doc: { text: 'a' } }]),
    patch: () => notes.patch('before', { set: { text: 'a' } }),
    patchWhere: () => notes.patchWhere(all, { set: { text: 'a' } }),
    remove: () => notes.remove('before'),
    removeWhere: () => notes.removeWhere(all),
    writable: () => index.writable(),
  }
  for (const [name, write] of Object.entries(writes)) await assert.rejects(write, isRefused, name)
  assert.deepEqual(await notes.get('before'), { text: 'x' })
  assert.equal((await notes.find({})).total, 1)

  await restore.finish()
  assert.deepEqual([await notes.get('before'), await notes.get('restored')], [undefined, { text: 'y' }])
  await notes.put('a', { text: 'a' })
})

test('a job waits for the restore and continues with the restored data', async (t) => {
  const { index, notes } = await given(t)
  const restore = aRestore(index)
  const order: string[] = []
  const job = waitAtBarrier(never, async () => {
    await notes.patch('restored', { set: { text: 'by the job' } })
    await index.writable()
    order.push('job')
  })
  await restore.begun
  order.push('restored')
  await restore.finish()
  await job

  assert.deepEqual(order, ['restored', 'job'])
  assert.deepEqual(await notes.get('restored'), { text: 'by the job' })
})

test('a waiting job ends when it is told to', async (t) => {
  const { index, notes } = await given(t)
  const restore = aRestore(index)
  const stop = new AbortController()
  const job = waitAtBarrier(stop.signal, () => notes.put('late', { text: 'a' }))
  await restore.begun
  stop.abort(new Error('killed'))

  await assert.rejects(job, /killed/)
  await assert.rejects(
    waitAtBarrier(stop.signal, () => notes.put('late', { text: 'a' })),
    /killed/,
  )
  await restore.finish()
  assert.equal(await notes.get('late'), undefined)
})

test('an admitted write in several steps ends before the restore begins', async (t) => {
  const { index, notes } = await given(t)
  const many = Array.from({ length: 1000 }, (_, number) => ({ id: `n${number}`, doc: { text: 'many' } }))
  const order: string[] = []
  const writing = notes.putMany(many).then(() => order.push('written'))
  const restoring = index.replaceAll(async () => void order.push('restoring'))
  await Promise.all([writing, restoring])

  assert.deepEqual(order, ['written', 'restoring'])
  assert.equal(await notes.count(), 0)
})

test('a second restore is refused, and a failed one opens the barrier again', async (t) => {
  const { index, notes } = await given(t)
  const restore = aRestore(index)
  await restore.begun
  await assert.rejects(
    index.replaceAll(async () => undefined),
    (error) => isAppError(error, 'conflict'),
  )
  await assert.rejects(index.restoreFrom('/nowhere'), (error) => isAppError(error, 'conflict'))
  await restore.finish()

  await assert.rejects(
    index.replaceAll(async () => Promise.reject(new Error('no more'))),
    /no more/,
  )
  await notes.put('a', { text: 'a' })
  assert.deepEqual(await notes.known(['a', 'restored']), new Set(['a', 'restored']))
})

test('a snapshot that is taken during a restore contains the data before it', async (t) => {
  const { index, notes } = await given(t)
  const restore = aRestore(index)
  await restore.begun
  await index.snapshots.take('av_daily_x')
  await restore.finish()
  await index.snapshots.restore('av_daily_x')
  assert.deepEqual(await notes.known(['before', 'restored']), new Set(['before']))
})
