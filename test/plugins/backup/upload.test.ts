/** A whole backup is uploaded, checked, previewed and restored without a shell; replaced data is kept for a while. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { epochSeconds, isoTime } from 'archivolt'
import { findOutside } from '../../../config/cli/find-plugins.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aVideo, PASSWORD, type TestApp, testApp } from '../../support/plugin-testing.ts'
import { ROOT } from '../../support/sources.ts'
import '../../support/long.ts'

const PASSPHRASE = 'Grüße aus dem Hafen'
const DAY_MS = 86_400_000
const BYTES = { 'content-type': 'application/octet-stream' }
const sealed = (passphrase: string) => ({ ...BYTES, 'x-passphrase': encodeURIComponent(passphrase) })

/** Removes the created file from the server. */
async function madeBackup(app: TestApp, passphrase?: string): Promise<{ filename: string; content: Buffer }> {
  const work = { id: 'test', signal: new AbortController().signal, log: app.app.log, progress: () => undefined }
  const { filename } = await app.app.wholeBackups.make(work, passphrase)
  const path = join(app.dataDir, 'backups', filename)
  const content = await readFile(path)
  await rm(path)
  return { filename, content }
}

const filesIn = async ({ dataDir }: TestApp): Promise<string[]> =>
  (await readdir(join(dataDir, 'backups')).catch(() => [])).filter((name) => !name.endsWith('.zip'))

for (const passphrase of [undefined, PASSPHRASE])
  test(`a backup that is ${passphrase ? '' : 'not '}encrypted is uploaded, previewed and restored elsewhere`, async (t) => {
    const scope = lastFirst(t)
    const from = await testApp(scope)
    await from.given(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
    const { filename, content } = await madeBackup(from, passphrase)
    const to = await testApp(scope)
    const admin = to.as('admin')
    const headers = passphrase ? sealed(passphrase) : BYTES
    const body = passphrase ? { passphrase } : {}

    const start = content.subarray(0, 1 << 20)
    const begun = await admin.put(`/api/whole/${filename}/?start=${content.length}`, start, headers)
    assert.deepEqual([begun.status, begun.body], [200, { success: true }])
    assert.deepEqual(await filesIn(to), [])
    const uploaded = await admin.put(`/api/whole/${filename}/`, content, headers)
    assert.equal(uploaded.status, 200, uploaded.text)
    assert.deepEqual([uploaded.body.filename, uploaded.body.bytes], [filename, content.length])
    assert.deepEqual(await filesIn(to), [filename])
    for (const query of ['', `?start=${content.length}`])
      assert.equal((await admin.put(`/api/whole/${filename}/${query}`, content, headers)).status, 409)
    const preview = (await admin.post(`/api/whole/${filename}/preview/`, body)).body
    assert.deepEqual([preview.documents.video.added, preview.missing], [1, []])

    assert.equal((await admin.post(`/api/whole/${filename}/`, body)).status, 200)
    await to.settled()
    assert.equal((await admin.get('/api/whole/')).body.waiting_since, epochSeconds(to.clock))
    assert.equal((await admin.delete('/api/whole/restore/')).status, 200)
    assert.equal((await admin.get('/api/whole/')).body.waiting_since, null)
    assert.equal((await admin.delete('/api/whole/restore/')).status, 404)
    await admin.post(`/api/whole/${filename}/`, body)
    await to.settled()
    await to.restart()

    assert.equal((await to.doc('video', 'v1')).title, 'Herring')
    const { waiting_since: waiting, aside } = (await to.as('admin').get('/api/whole/')).body
    assert.equal(waiting, null)
    assert.deepEqual([aside.length, aside[0].bytes > 10_000], [1, true])
  })

test('a bad file is refused by name, as early as possible, and nothing of it remains', async (t) => {
  const scope = lastFirst(t)
  const app = await testApp(scope)
  await app.given(aVideo({ id: 'v1', title: 'Herring' }))
  const [plain, encrypted] = [await madeBackup(app), await madeBackup(app, PASSPHRASE)]
  const admin = app.as('admin')
  const refused = async (
    { filename, content }: typeof plain,
    headers: Record<string, string>,
    why: RegExp,
    { status = 422, isAtStart = false } = {},
  ) => {
    for (const query of isAtStart ? ['', `?start=${content.length}`] : ['']) {
      const answer = await admin.put(`/api/whole/${filename}/${query}`, content, headers)
      assert.equal(answer.status, status, answer.text)
      assert.match(answer.body.message, why)
    }
    assert.deepEqual(await filesIn(app), [])
  }
  const changed = ({ filename, content }: typeof plain, change: (copy: Buffer) => Buffer) => ({
    filename,
    content: change(Buffer.from(content)),
  })
  const flipped = (copy: Buffer) => {
    let at = Math.floor(copy.length * 0.6)
    while (copy[at] === 0) at++
    copy[at]! ^= 1
    return copy
  }
  const atStart = { isAtStart: true }

  const foreign = /is not a backup of a whole archive/
  await refused({ ...plain, content: Buffer.from('PK\x03\x04 a zip') }, BYTES, foreign, atStart)
  await refused({ ...plain, content: Buffer.alloc(0) }, BYTES, foreign)
  await refused(encrypted, BYTES, /is encrypted: enter its passphrase/, atStart)
  await refused(encrypted, sealed('another'), /passphrase is wrong/, atStart)
  for (const [one, headers] of [
    [plain, BYTES],
    [encrypted, sealed(PASSPHRASE)],
  ] as const) {
    await refused(changed(one, flipped), headers, /damaged or incomplete/)
    await refused(
      changed(one, (copy) => copy.subarray(0, Math.floor(copy.length * 0.9))),
      headers,
      /damaged or incomplete/,
    )
  }
  await refused(
    changed(plain, (copy) => Buffer.from(copy.toString('latin1').replace('"form": 1', '"form": 9'), 'latin1')),
    BYTES,
    /was made by the later version/,
    atStart,
  )
  const lone = { ...BYTES, 'x-passphrase': '%E0%A4%A' }
  await refused(encrypted, lone, /must be percent-encoded/, { status: 400 })
  await refused(plain, { 'content-type': 'application/zip' }, /./, { status: 415 })
  const huge = await admin.put(`/api/whole/${plain.filename}/?start=${2 ** 50}`, plain.content.subarray(0, 4096), BYTES)
  assert.deepEqual([huge.status, /disk with the backups is full/.test(huge.body.message)], [503, true])
  const long = await admin.put(`/api/whole/${plain.filename}/?start=5`, Buffer.alloc((2 << 20) + 1), BYTES)
  assert.equal(long.status, 413)
  assert.equal((await admin.put('/api/whole/..%2Fx.tar/', plain.content, BYTES)).status, 404)
  assert.equal((await app.as('user').put(`/api/whole/${plain.filename}/`, plain.content, BYTES)).status, 403)
  assert.deepEqual(await filesIn(app), [])
})

test('a restore needs a recent confirmation of the password', async (t) => {
  const app = await testApp(lastFirst(t))
  const nobody = app.as('nobody')
  const signedIn = await nobody.post('/login/', { username: 'admin', password: PASSWORD })
  const cookies = signedIn.headers.getSetCookie().map((line) => line.split(';')[0]!)
  const csrf = cookies.find((one) => one.startsWith('csrftoken='))!.slice('csrftoken='.length)
  const restore = () =>
    nobody.post('/api/whole/av_whole-20260101-030000.tar/', {}, { cookie: cookies.join('; '), 'x-csrftoken': csrf })
  assert.equal((await restore()).status, 404)

  await app.clock.advance(15 * 60_000)

  const { status, body } = await restore()
  assert.deepEqual([status, body.confirm_required], [403, true])
})

test('a failed restore is reported', async (t) => {
  const app = await testApp(lastFirst(t))
  await app.given(aVideo({ id: 'v1', title: 'Herring' }))
  const { filename, content } = await madeBackup(app)
  await writeFile(join(app.dataDir, 'backups', filename), content.subarray(0, content.length * 0.9))
  assert.equal((await app.as('admin').post(`/api/whole/${filename}/`, {})).status, 200)
  await app.settled()

  const shown = (await app.as('admin').get('/api/notification/')).body
  assert.ok(shown.some(({ title }: { title: string }) => title === 'The backup could not be restored'))
  assert.equal((await app.as('admin').get('/api/whole/')).body.waiting_since, null)
})

test('of two restores requested at the same moment one begins, and the other is refused', async (t) => {
  const app = await testApp(lastFirst(t))
  const names = ['av_whole-20260101-030000.tar', 'av_whole-20260102-030000.tar.age']
  await mkdir(join(app.dataDir, 'backups'), { recursive: true })
  for (const name of names) await writeFile(join(app.dataDir, 'backups', name), 'x')
  const { wholeBackups } = app.app

  const results = await Promise.allSettled(names.map((name) => wholeBackups.begin(name, undefined)))

  const begun = results.flatMap((one) => (one.status === 'fulfilled' ? [String(one.value.payload['filename'])] : []))
  const refused = results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  assert.deepEqual([begun.length, refused], [1, ['conflict']])
  await assert.rejects(wholeBackups.remove(begun[0]!), /is being restored/)
  await app.settled()
})

test('an uploaded file is not rehearsed in place of our own backup', async (t) => {
  const scope = lastFirst(t)
  const from = await testApp(scope)
  await from.given(aVideo({ id: 'v1', title: 'Herring' }))
  await from.clock.advance(DAY_MS)
  const { filename, content } = await madeBackup(from)
  const to = await testApp(scope)
  await to.given(aVideo({ id: 'v2', title: 'Sprat' }))
  await to.app.jobs.ended((await to.app.jobs.start('back_up_all')).id)
  const [own] = await to.app.wholeBackups.list()
  await to.as('admin').put(`/api/whole/${filename}/`, content, BYTES)

  assert.deepEqual(
    (await to.app.wholeBackups.list()).map((one) => one.filename),
    [filename, own!.filename],
  )
  assert.equal((await to.app.wholeBackups.newestOwn())!.filename, own!.filename)
  await to.app.wholeBackups.remove(own!.filename)
  assert.equal((await to.app.wholeBackups.newestOwn())!.filename, filename)
})

test('an upload that its sender aborts leaves nothing', async (t) => {
  const app = await testApp(lastFirst(t))
  await app.given(aVideo({ id: 'v1', title: 'Herring' }))
  const { filename, content } = await madeBackup(app)
  const half = new ReadableStream({
    start(controller) {
      controller.enqueue(content.subarray(0, content.length / 2))
    },
  })
  const stop = new AbortController()
  const authorization = `Token ${await app.app.accounts.token(1)}`
  const sending = fetch(`${app.url}/api/whole/${filename}/`, {
    ...{ method: 'PUT', body: half, duplex: 'half', signal: stop.signal },
    headers: { ...BYTES, authorization },
  } as RequestInit)
  sending.catch(() => undefined)
  while ((await filesIn(app)).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))

  stop.abort()

  while ((await filesIn(app)).length > 0) await new Promise((resolve) => setTimeout(resolve, 10))
})

test('a preview names the plugins whose documents would be skipped', async (t) => {
  const scope = lastFirst(t)
  const note = join(ROOT, 'test/data/plugins/note')
  const plugins = (await findOutside([note], await temporaryFolder(scope))).map(({ plugin }) => plugin)
  const from = await testApp(scope, { plugins })
  await from.as('user').put('/api/note/n1/', { text: 'the tide turns at noon' })
  await from.given(aVideo({ id: 'v1', title: 'Herring' }))
  const { filename, content } = await madeBackup(from)
  const to = await testApp(scope)
  const admin = to.as('admin')
  await admin.put(`/api/whole/${filename}/`, content, BYTES)

  const { missing } = (await admin.post(`/api/whole/${filename}/preview/`, {})).body
  assert.deepEqual(missing, [{ plugin: 'note', documents: 1 }])
  await to.close()
  const { said } = await to.command(['restore', filename])
  assert.match(said.join('\n'), /The plugin note is not installed: 1 of its documents would be skipped/)
})

test('data that restores have replaced is removed after 30 days, and only if a newer backup is proven', async (t) => {
  const app = await testApp(lastFirst(t))
  await app.given(aVideo({ id: 'v1', title: 'Herring' }))
  const admin = app.as('admin')
  const stamp = isoTime(epochSeconds(app.clock)).slice(0, 19).replaceAll(/[-:]/g, '')
  const [kept, dropped] = [`before-restore-${stamp}`, 'before-restore-20200101T000000']
  for (const name of [kept, dropped]) {
    await mkdir(join(app.dataDir, name, 'deep'), { recursive: true })
    await writeFile(join(app.dataDir, name, 'deep', 'ledger.sqlite'), 'of before')
  }
  const names = async () => (await admin.get('/api/whole/')).body.aside.map(({ name }: { name: string }) => name)
  assert.deepEqual((await admin.get('/api/whole/')).body.aside[1], { name: dropped, bytes: 9, at: 1_577_836_800 })
  const { dropOldReplaced } = await import('../../../plugins/backup/whole/aside.ts')
  const now = () => epochSeconds(app.clock)

  await dropOldReplaced(1_577_836_800, app.app)
  assert.deepEqual(await names(), [kept, dropped], 'the proven backup is not newer')
  await dropOldReplaced(now() + 1, app.app)
  assert.deepEqual(await names(), [kept])
  await app.clock.advance(30 * DAY_MS)
  await dropOldReplaced(now(), app.app)
  assert.deepEqual(await names(), [kept], '30 days are not over')
  await app.clock.advance(1000)
  await dropOldReplaced(now(), app.app)
  assert.deepEqual(await names(), [])

  await mkdir(join(app.dataDir, dropped))
  assert.equal((await admin.delete(`/api/whole/aside/${dropped}/`)).status, 200)
  assert.equal((await admin.delete(`/api/whole/aside/${dropped}/`)).status, 404)
  assert.equal((await admin.delete('/api/whole/aside/media/')).status, 404)
  assert.deepEqual(await names(), [])
})
