/**
 * The built program restores the newest whole backup separately and compares it: success, and failure once it is
 * damaged.
 */
import assert from 'node:assert/strict'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Database from 'better-sqlite3'
import { fill } from '../../support/household.ts'
import { lastFirst } from '../../support/last-first.ts'
import { PASSWORD, testApp } from '../../support/plugin-testing.ts'
import { type Server, startServer, taskEnded } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'
import { endSchedules } from '../../support/testing.ts'
import '../../support/long.ts'

/** Filled by a server that was closed cleanly. */
async function filledFolder(t: TestContext): Promise<string> {
  const app = await testApp({ after: () => undefined })
  t.after(() => rm(app.dataDir, { recursive: true, force: true }))
  await fill(app)
  await endSchedules(app)
  await app.close()
  return app.dataDir
}

const start = (t: TestContext, folder: string) =>
  startServer(t, folder, { AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD })

async function run(server: Server, task: string) {
  const { body } = await server.api('POST', `/api/task-name/${task}/`)
  return (await taskEnded(server, body.task_id)) as { status: string; result: string | null }
}
const state = async (server: Server) => (await server.api('GET', '/api/whole/')).body

test('a rehearsal proves a backup; a damaged, missing or incomplete one is no proof, and the reply says since when', {
  timeout: 280_000,
}, async (t) => {
  const folder = await filledFolder(t)
  await cp(join(ROOT, 'test/data/plugins/note'), join(folder, 'plugins/note'), { recursive: true })
  const server = await start(t, folder)
  assert.equal((await server.api('PUT', '/api/note/n1/', { text: 'of a plugin that was added' })).status, 200)
  assert.match((await run(server, 'rehearse_restore')).result!, /There is no backup of everything yet/)
  assert.equal((await run(server, 'back_up_all')).status, 'SUCCESS')

  const green = await run(server, 'rehearse_restore')

  assert.equal(green.status, 'SUCCESS', green.result!)
  const { rehearsal, backup, backups } = await state(server)
  assert.deepEqual([rehearsal.videos, rehearsal.failure, backup.videos, backups.length], [3, '', 3, 1])
  assert.deepEqual([rehearsal.file, rehearsal.failing_since], [backups[0].filename, null])
  assert.ok(!(await readdir(folder)).includes('.rehearsal'))

  const file = join(folder, 'backups', backups[0].filename)
  const whole = await readFile(file)
  const damaged = Buffer.from(whole)
  damaged[Math.floor(damaged.length / 2)]! ^= 1
  await writeFile(file, damaged)
  assert.equal((await run(server, 'rehearse_restore')).status, 'FAILURE')
  const red = (await state(server)).rehearsal
  assert.match(red.failure, /cannot be restored: .*This backup is damaged or incomplete/)
  assert.equal(red.succeeded, rehearsal.succeeded, 'the last proof stays')
  assert.ok(red.failing_since >= rehearsal.succeeded)
  const shown = (await server.api('GET', '/api/notification/')).body.map(({ title }: { title: string }) => title)
  assert.ok(shown.includes('The newest backup could not be restored'), shown.join())
  await writeFile(file, whole)

  const film = join(folder, 'media', 'UC1', 'v1.mp4')
  const content = await readFile(film)
  await writeFile(film, 'no film')
  assert.match((await run(server, 'rehearse_restore')).result!, /The video file of v1 cannot be opened/)
  await writeFile(film, content)
  await server.end('SIGTERM')
  const ledger = new Database(join(folder, 'ledger.sqlite'))
  ledger.exec(`UPDATE backup_run SET documents = json_set(documents, '$.video', 4) WHERE kind = 'backup'`)
  ledger.close()
  const next = await start(t, folder)
  assert.match((await run(next, 'rehearse_restore')).result!, /has 3 of 4 documents \(video\)/)
  assert.equal((await state(next)).rehearsal.failing_since, red.failing_since, 'since the first')
})

test('scheduled backups keep the newest, and none is replaced by one with less', async (t) => {
  const app = await testApp(lastFirst(t))
  await fill(app)
  const make = async () => {
    await app.clock.advance(1000)
    await app.app.jobs.ended((await app.app.jobs.start('back_up_all', { scheduled: true, rotate: 2 })).id)
    return (await app.as('admin').get('/api/whole/')).body.backups.map(({ filename }: { filename: string }) => filename)
  }
  const [first] = await make()
  await make()
  const two = await make()
  assert.equal(two.length, 2)
  assert.ok(!two.includes(first))

  const playlists = app.app.index.collection(app.app.index.definitions.find(({ name }) => name === 'playlist')!)
  await playlists.remove(await app.ids('playlist'))
  const three = await make()
  assert.equal(three.length, 3)
  for (let time = 0; time < 3; time++) await make()
  assert.deepEqual((await make()).slice(2), two, 'the last ones that have playlists')
})

test('scheduled backups keep those of another passphrase, and those that can be read instead of damaged ones', async (t) => {
  const app = await testApp(lastFirst(t))
  await fill(app)
  const folder = join(app.dataDir, 'backups')
  const make = async () => {
    await app.clock.advance(1000)
    return (await app.app.jobs.ended((await app.app.jobs.start('back_up_all', { scheduled: true, rotate: 2 })).id))
      .result!
  }
  await app.app.preferences.change({ backups: { passphrase: 'former words' } })
  const former = await make()
  await app.app.preferences.change({ backups: { passphrase: 'present words' } })
  await make()
  const [whole, damaged] = [await make(), await make()]
  await writeFile(join(folder, damaged), 'damaged')

  const last = await make()

  assert.deepEqual((await readdir(folder)).toSorted(), [former, whole, damaged, last])
})

test('the backup that the last rehearsal has restored stays until another one is proven', async (t) => {
  const app = await testApp(lastFirst(t))
  const { jobs, wholeBackups } = app.app
  const make = async () => {
    await app.clock.advance(1000)
    return (await jobs.ended((await jobs.start('back_up_all', { scheduled: true, rotate: 1 })).id)).result!
  }
  const prove = (file: string) =>
    wholeBackups.runs.succeeded('rehearsal', { file, succeededAt: 1, seconds: 1, documents: {} })
  const files = async () => (await wholeBackups.list()).map(({ filename }) => filename)
  const proven = await make()
  await prove(proven)

  await make()
  const next = await make()

  assert.deepEqual(await files(), [next, proven])
  await prove(next)
  const last = await make()
  assert.deepEqual(await files(), [last, next])
})

test('backups that a wrong clock has dated in the future are deleted first, and never the one just created', async (t) => {
  const app = await testApp(lastFirst(t))
  const folder = join(app.dataDir, 'backups')
  const { jobs, wholeBackups } = app.app
  const { result: whole } = await jobs.ended((await jobs.start('back_up_all', {})).id)
  const earlier = 'av_whole-20260108-030000.tar'
  for (const name of [earlier, 'av_whole-20990101-030000.tar', 'av_whole-20990108-030000.tar'])
    await cp(join(folder, whole!), join(folder, name))
  await rm(join(folder, whole!))

  const { state, result: made } = await jobs.ended((await jobs.start('back_up_all', { scheduled: true, rotate: 2 })).id)

  assert.equal(state, 'SUCCESS', made!)
  assert.deepEqual((await readdir(folder)).toSorted(), [earlier, made])
  await rm(join(folder, made!))
  await writeFile(join(folder, 'av_whole-20990101-030000.tar'), 'x')
  assert.equal((await wholeBackups.newestOwn())?.filename, earlier)
})
