/** The newest whole backup is restored aside by a second program and compared: green, and red once it is damaged. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { fill } from '../../support/household.ts'
import { lastFirst } from '../../support/last-first.ts'
import { type TestApp, testApp } from '../../support/plugin-testing.ts'
import '../../support/slow.ts'

async function run({ app }: TestApp, task: string): Promise<{ state: string; result: string | null }> {
  return app.jobs.ended((await app.jobs.start(task)).id)
}
const state = async (app: TestApp) => (await app.as('admin').get('/api/whole/')).body

test('a rehearsal proves a backup; what is damaged, missing or less is no proof, and it is said since when', {
  timeout: 280_000,
}, async (t) => {
  const app = await testApp(lastFirst(t))
  await fill(app)
  assert.match((await run(app, 'rehearse_restore')).result!, /There is no backup of everything yet/)
  assert.equal((await run(app, 'back_up_all')).state, 'SUCCESS')

  const green = await run(app, 'rehearse_restore')

  assert.equal(green.state, 'SUCCESS', green.result!)
  const { rehearsal, backup, backups } = await state(app)
  assert.deepEqual([rehearsal.videos, rehearsal.failure, backup.videos, backups.length], [3, '', 3, 1])
  assert.deepEqual([rehearsal.file, rehearsal.failing_since], [backups[0].filename, null])
  assert.equal(existsSync(join(app.dataDir, '.rehearsal')), false)

  const file = join(app.dataDir, 'backups', backups[0].filename)
  const whole = await readFile(file)
  const damaged = Buffer.from(whole)
  damaged[Math.floor(damaged.length / 2)]! ^= 1
  await writeFile(file, damaged)
  await app.clock.advance(60_000)
  assert.equal((await run(app, 'rehearse_restore')).state, 'FAILURE')
  const red = (await state(app)).rehearsal
  assert.match(red.failure, /cannot be restored: .*This backup is damaged or was cut off/)
  assert.equal(red.succeeded, rehearsal.succeeded, 'the last proof stays')
  assert.ok(red.failing_since > rehearsal.succeeded)
  const shown = (await app.as('admin').get('/api/notification/')).body.map(({ title }: { title: string }) => title)
  assert.ok(shown.includes('The newest backup could not be restored'), shown.join())
  await writeFile(file, whole)

  const film = app.app.media.pathOf('UC1', 'v1')
  const content = await readFile(film)
  await writeFile(film, 'no film')
  assert.match((await run(app, 'rehearse_restore')).result!, /The film of v1 cannot be opened/)
  await writeFile(film, content)
  const { runs } = app.app.wholeBackups
  const last = runs.last('backup')
  await runs.succeeded('backup', { ...last, documents: { ...last.documents, video: 4 } })
  assert.match((await run(app, 'rehearse_restore')).result!, /has 3 of 4 documents \(video\)/)
  assert.equal((await state(app)).rehearsal.failing_since, red.failing_since, 'since the first')
})

test('scheduled backups keep the newest, and none goes for one with less', async (t) => {
  const app = await testApp(lastFirst(t))
  await fill(app)
  const make = async () => {
    await app.clock.advance(1000)
    await app.app.jobs.ended((await app.app.jobs.start('back_up_all', { scheduled: true, rotate: 2 })).id)
    return (await state(app)).backups.map(({ filename }: { filename: string }) => filename)
  }
  const [first] = await make()
  await make()
  const two = await make()
  assert.equal(two.length, 2)
  assert.ok(!two.includes(first))

  const playlists = app.app.index.collection(app.app.index.definitions.find(({ name }) => name === 'playlist')!)
  await playlists.remove(await app.ids('playlist'))
  assert.equal((await make()).length, 3)
})
