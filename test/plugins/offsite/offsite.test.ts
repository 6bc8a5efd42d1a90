/** The second site, with the real restic: it has every byte, damage is found, films are restored. */
import assert from 'node:assert/strict'
import fs, {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import type { Run } from '../../../plugins/offsite/restic.ts'
import { FILM_FILE } from '../../support/film.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { REMOTE_SITES } from '../../support/remote-sites.ts'
import { noRestic } from '../../support/restic.ts'
import '../../support/slow.ts'

const PASSWORD = 'correct horse'

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Three videos: one exists only here, one is kept; the repository is a folder elsewhere. */
async function archive(t: TestContext, index = 'the embedded index', more: Record<string, unknown> = {}) {
  const scope = lastFirst(t)
  const elsewhere = await mkdtemp(join(tmpdir(), 'av-offsite-'))
  scope.after(() => rm(elsewhere, { recursive: true, force: true }))
  const settings = { ...(await indexSettings(scope, index as (typeof INDEXES)[number]['index'], 'offsite')), ...more }
  const app = await testApp(scope, { settings })
  const { media } = app.app
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'lost', channelId: 'UC1', active: false }),
    aVideo({ id: 'kept', channelId: 'UC1', keep: true }),
    aVideo({ id: 'third', channelId: 'UC1' }),
  )
  for (const id of ['lost', 'kept', 'third']) await put(media.pathOf('UC1', id), `the film ${id} [*]`.repeat(50_000))
  await put(media.subtitlePathOf('UC1', 'lost', 'en'), 'WEBVTT')
  await put(media.artPathOf('video', 'lost'), 'a picture')
  const repository = join(elsewhere, 'repository')
  const set = (values: object) => app.as('admin').post('/api/config/', { offsite: values })
  assert.equal((await set({ repository, password: PASSWORD })).status, 200)
  return { app, repository, set }
}

const state = async (app: TestApp) => (await app.as('admin').get('/api/offsite/')).body
async function run(app: TestApp, task: string) {
  const { body } = await app.as('admin').post(`/api/task-name/${task}/`)
  return app.app.jobs.ended(body.task_id)
}
async function restore(app: TestApp, body: object) {
  const answer = await app.as('admin').post('/api/offsite/restore/', body)
  assert.equal(answer.status, 200, answer.text)
  return app.app.jobs.ended(answer.body.task_id)
}
async function filesBelow(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const kept = paths.filter((path) => !/\.archivolt-(lock|room)$/.test(path)).sort()
  return new Map(
    await Promise.all(
      kept.map(
        async (path): Promise<[string, string]> => [
          path.slice(folder.length),
          (await readFile(path)).toString('base64'),
        ],
      ),
    ),
  )
}

for (const { index, skip } of INDEXES)
  test(`on ${index}: a backup is restored into an empty folder, byte by byte`, {
    skip: skip || noRestic,
  }, async (t) => {
    const { app } = await archive(t, index)
    assert.deepEqual(
      await app
        .as('admin')
        .post('/api/offsite/test/')
        .then(({ body }) => body),
      { success: true },
    )

    const job = await run(app, 'back_up_offsite')

    assert.equal(job.state, 'SUCCESS', job.result ?? '')
    const { backup, is_set: isSet, restic } = await state(app)
    assert.ok(isSet && /^\d+\./.test(restic) && backup.succeeded > 0 && backup.files >= 5, JSON.stringify(backup))
    assert.deepEqual([backup.unread, backup.failure, backup.failing_since], [0, '', null])

    const { state: ended, result } = await restore(app, {})
    assert.equal(ended, 'SUCCESS', result ?? '')
    const { mediaDir, cacheDir, dataDir } = app.app.settings
    assert.deepEqual(await filesBelow(join(result!, mediaDir)), await filesBelow(mediaDir))
    assert.deepEqual(await filesBelow(join(result!, cacheDir, 'videos')), await filesBelow(join(cacheDir, 'videos')))
    assert.deepEqual(await readFile(join(result!, dataDir, 'secret.key')), await readFile(join(dataDir, 'secret.key')))
  })

for (const { name, skip, open } of REMOTE_SITES)
  test(`by ${name}: a backup is checked, and restored byte by byte`, {
    skip: noRestic || skip,
  }, async (t) => {
    const { app, repository: folder, set } = await archive(t)
    await set({ repository: await open(lastFirst(t), dirname(folder)) })
    assert.equal((await app.as('admin').post('/api/offsite/test/')).status, 200)

    for (const task of ['back_up_offsite', 'check_offsite']) {
      const { state, result } = await run(app, task)
      assert.equal(state, 'SUCCESS', result ?? '')
    }

    const { state, result } = await restore(app, {})
    assert.equal(state, 'SUCCESS', result ?? '')
    const { mediaDir } = app.app.settings
    assert.deepEqual(await filesBelow(join(result!, mediaDir)), await filesBelow(mediaDir))
  })

test('films are copied within the selected scope, and those that exist only here come first', {
  skip: noRestic,
}, async (t) => {
  const { app, set } = await archive(t)
  const { mediaDir } = app.app.settings
  const there = async (films: string) => {
    await set({ films })
    assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')
    const folder = (await restore(app, {})).result!
    const names = await readdir(join(folder, mediaDir, 'UC1')).catch(() => [])
    await rm(folder, { recursive: true })
    return names.filter((name) => !name.endsWith('.json')).sort()
  }

  assert.deepEqual(await there('none'), [])
  assert.deepEqual(await there('only_here'), ['lost.en.vtt', 'lost.mp4'])
  assert.deepEqual(await there('kept'), ['kept.mp4', 'lost.en.vtt', 'lost.mp4'])
})

test('a damaged film is restored from the second site, and the damaged one goes to the bin', {
  skip: noRestic,
}, async (t) => {
  const { app } = await archive(t)
  const film = app.app.media.pathOf('UC1', 'lost')
  const whole = await readFile(film, 'utf8')
  await run(app, 'back_up_offsite')
  await writeFile(film, 'rotten')

  const { state: ended, result } = await restore(app, { video: 'lost' })

  assert.equal(ended, 'SUCCESS', result ?? '')
  assert.equal(await readFile(film, 'utf8'), whole)
  const [entry] = (await app.as('admin').get('/api/bin/')).body.data
  assert.deepEqual([entry.kind, entry.platform_id], ['film', 'lost'])
  assert.equal((await restore(app, { video: 'nobody' })).state, 'FAILURE')
})

test('after the restore of a film, the document has the data of that file', { skip: noRestic }, async (t) => {
  const { app } = await archive(t)
  const film = app.app.media.pathOf('UC1', 'third')
  await copyFile(FILM_FILE, film)
  await run(app, 'back_up_offsite')
  await writeFile(film, 'a larger film')

  assert.equal((await restore(app, { video: 'third' })).state, 'SUCCESS')

  const { media_size: bytes, height, player } = await app.doc('video', 'third')
  assert.deepEqual([bytes, height, player.duration], [(await stat(film)).size, 180, 1])
})

test('a byte that the second site has changed is found, and reported until a check succeeds', {
  skip: noRestic,
}, async (t) => {
  const { app, repository } = await archive(t)
  await run(app, 'back_up_offsite')
  assert.equal((await run(app, 'check_offsite')).state, 'SUCCESS')
  const packs = (await readdir(join(repository, 'data'), { recursive: true, withFileTypes: true })).filter((one) =>
    one.isFile(),
  )
  const kept = new Map<string, Buffer>()
  for (const { parentPath, name } of packs) {
    const path = join(parentPath, name)
    const bytes = await readFile(path)
    kept.set(path, Buffer.from(bytes))
    bytes[Math.floor(bytes.length / 2)]! ^= 1
    await writeFile(path, bytes)
  }

  assert.equal((await run(app, 'check_offsite')).state, 'FAILURE')
  const { check, said } = await state(app)
  assert.equal(said[check.failure].key, 'restic failed: {reason}', 'the page translates it')
  assert.ok(check.succeeded > 0 && check.failing_since > 0, JSON.stringify(check))
  assert.match(check.failure, /^restic failed: /)

  for (const [path, bytes] of kept) await writeFile(path, bytes)
  assert.equal((await run(app, 'check_offsite')).state, 'SUCCESS')
  assert.equal((await state(app)).check.failure, '')
})

test('errors are reported with a remedy, and no secret is shown', { skip: noRestic }, async (t) => {
  const { app, set, repository } = await archive(t)
  const tested = async () => (await app.as('admin').post('/api/offsite/test/')).body.message
  await run(app, 'back_up_offsite')
  const { offsite } = (await app.as('admin').get('/api/config/')).body
  assert.equal(JSON.stringify(offsite).includes(PASSWORD), false)

  await set({ password: 'another' })
  assert.equal(await tested(), 'Wrong password: enter the password of the repository')
  const { result } = await run(app, 'back_up_offsite')
  assert.match(result!, /Wrong password/)
  assert.match((await state(app)).backup.failure, /Wrong password/)

  await set({ password: '' })
  assert.equal(await tested(), 'The second site has no password: enter one under Settings → Safety')
  await set({ repository: '' })
  assert.equal(await tested(), 'No second site is set up: enter its repository under Settings → Safety')
  for (const [wrong, why] of [
    ['backup', /absolute path/],
    [join(app.app.settings.mediaDir, 'copy'), /outside of the archive/],
    [app.app.settings.dataDir, /outside of the archive/],
  ] as const) {
    const refused = await set({ repository: wrong })
    assert.equal(refused.status, 400)
    assert.match(JSON.stringify(refused.body), why)
  }
  await set({ repository: 'rest:http://someone:hidden@127.0.0.1:1/', password: PASSWORD })
  assert.equal(JSON.stringify((await app.as('admin').get('/api/config/')).body).includes('hidden'), false)
  assert.equal((await app.as('user').get('/api/offsite/')).status, 403)
  assert.ok(repository)
})

test('an unreadable file is counted, and everything else is copied', { skip: noRestic }, async (t) => {
  const wrapper = join(await mkdtemp(join(tmpdir(), 'av-restic-')), 'restic')
  lastFirst(t).after(() => rm(dirname(wrapper), { recursive: true }))
  // root may read everything, unless it drops that capability.
  const without = process.getuid?.() === 0 ? 'setpriv --bounding-set=-dac_override,-dac_read_search ' : ''
  await writeFile(wrapper, `#!/bin/sh\nexec ${without}restic "$@"\n`, { mode: 0o755 })
  const { app } = await archive(t, undefined, { restic: wrapper })
  await chmod(app.app.media.pathOf('UC1', 'third'), 0)

  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')

  const { backup } = await state(app)
  assert.equal(backup.unread, 1)
  const folder = (await restore(app, {})).result!
  const names = await readdir(join(folder, app.app.settings.mediaDir, 'UC1'))
  assert.deepEqual(names.filter((name) => name.endsWith('.mp4')).sort(), ['kept.mp4', 'lost.mp4'])
})

test('without restic everything else works, and the reply says how to install it', async (t) => {
  const { app } = await archive(t, undefined, { restic: '/nowhere/restic' })

  assert.equal((await state(app)).restic, null)
  const { status, body } = await app.as('admin').post('/api/offsite/test/')
  assert.equal(status, 503)
  assert.match(body.message, /^restic is not installed: install it/)
  assert.match((await run(app, 'back_up_offsite')).result!, /^restic is not installed/)
})

test('a failure under a clock that was ahead gets the date of the next one after the clock is right', async (t) => {
  const { app } = await testApp(t)
  const now = app.clock.now() / 1000
  const offsite = async (at: number) => {
    await app.offsite.rows.failed('backup', 'no disk', at)
    return app.offsite.rows.get('backup')!.failing_since
  }
  const whole = async (at: number) => {
    await app.wholeBackups.runs.failed('backup', 'no disk', at)
    return app.wholeBackups.runs.last('backup').failingSince
  }

  for (const fail of [offsite, whole])
    assert.deepEqual([await fail(now + 9e6), await fail(now), await fail(now + 60)], [now + 9e6, now, now])
})

test('another repository has no backup yet, and neither has one that was created again', {
  skip: noRestic,
}, async (t) => {
  const { app, repository, set } = await archive(t)
  const kinds = ['backup', 'check'] as const
  const succeeded = async () => Object.values(await state(app)).flatMap((one: any) => one?.succeeded ?? [])
  for (const kind of kinds) await app.app.offsite.rows.succeeded(kind, 1_700_000_000)
  assert.equal((await succeeded()).length, 2)

  await set({ repository: `${repository}-2` })
  const ofAnother = await succeeded()
  await app.app.offsite.rows.failed('backup', 'no network', 1_800_000_000)
  const { backup } = await state(app)
  await set({ repository })
  const ofFormer = await succeeded()
  await app.as('admin').post('/api/offsite/test/')

  assert.deepEqual([ofAnother, backup.succeeded, backup.failing_since], [[], null, 1_800_000_000])
  assert.deepEqual([ofFormer.length, await succeeded()], [1, []])
})

test('a stopped backup continues from there, and its lock blocks nobody', {
  skip: noRestic,
}, async (t) => {
  const { app } = await archive(t)
  await run(app, 'back_up_offsite')
  const { body } = await app.as('admin').post('/api/task-name/back_up_offsite/')
  await app.as('admin').post(`/api/task-id/${body.task_id}/`, { command: 'stop' })
  await app.app.jobs.ended(body.task_id)
  assert.equal((await state(app)).backup.failure, '', 'a stop is no failure')

  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')
})

test('while the library is offline only records are backed up, and restores use the newest complete backup', {
  skip: noRestic,
}, async (t) => {
  const { app } = await archive(t)
  const { mediaDir } = app.app.settings
  const film = app.app.media.pathOf('UC1', 'third')
  const whole = await readFile(film)
  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')
  await rename(mediaDir, `${mediaDir}-away`)
  await mkdir(mediaDir)

  const { state: ended, result } = await run(app, 'back_up_offsite')

  assert.equal(ended, 'FAILURE')
  assert.match(result!, /^The library can’t be found: /)
  assert.match((await state(app)).backup.failure, /^The library can’t be found: /)
  await rmdir(mediaDir)
  await rename(`${mediaDir}-away`, mediaDir)
  const all = await restore(app, {})
  assert.equal(all.state, 'SUCCESS', all.result ?? '')
  assert.deepEqual(await filesBelow(join(all.result!, mediaDir)), await filesBelow(mediaDir))
  await writeFile(film, 'rotten')
  const one = await restore(app, { video: 'third' })
  assert.equal(one.state, 'SUCCESS', one.result ?? '')
  assert.deepEqual(await readFile(film), whole)
})

test('a backup during which the library disappeared is not kept', { skip: noRestic }, async (t) => {
  const { app, set } = await archive(t)
  const { media, offsite } = app.app
  await set({ films: 'only_here' })
  await run(app, 'back_up_offsite')
  const { restic } = offsite
  let isAway = false
  t.mock.method(media, 'absence', async () => (isAway ? 'its disk is away' : undefined))
  t.mock.method(offsite, 'restic', async (args: readonly string[], how: Run) => {
    const said = await restic(args, how)
    if (args.some((arg) => arg.includes('archivolt-whole')) && args[0] === 'backup') isAway = true
    return said
  })
  await rm(media.pathOf('UC1', 'lost'))

  assert.equal((await run(app, 'back_up_offsite')).result, 'its disk is away')

  isAway = false
  const folder = (await restore(app, {})).result!
  assert.ok((await readdir(join(folder, app.app.settings.mediaDir, 'UC1'))).includes('lost.mp4'))
})

test('a film that newer backups lack is restored from an older one', { skip: noRestic }, async (t) => {
  const { app, set } = await archive(t)
  const film = app.app.media.pathOf('UC1', 'third')
  const whole = await readFile(film)
  await run(app, 'back_up_offsite')
  await set({ films: 'none', days: 0, weeks: 0, months: 0 })
  await run(app, 'back_up_offsite')
  await writeFile(film, 'rotten')

  const { state: ended, result } = await restore(app, { video: 'third' })

  assert.equal(ended, 'SUCCESS', result ?? '')
  assert.deepEqual(await readFile(film), whole)
})

test('a backup that a wrong clock has dated in the future is not the newest', { skip: noRestic }, async (t) => {
  const { app } = await archive(t)
  app.clock.set(Date.now())
  const { media, offsite, settings } = app.app
  const film = media.pathOf('UC1', 'third')
  await run(app, 'back_up_offsite')
  await writeFile(film, 'of a wrong clock')
  const signal = new AbortController().signal
  const tags = ['--tag', 'archivolt,archivolt-whole', '--host', 'archivolt']
  await offsite.restic(['backup', settings.mediaDir, ...tags, '--time', '2099-01-01 00:00:00'], { signal })
  await writeFile(film, 'newer')
  await run(app, 'back_up_offsite')

  const all = (await restore(app, {})).result!

  assert.equal(await readFile(join(all, film), 'utf8'), 'newer')
})

test('a resumed restore counts what it has already written as available space', { skip: noRestic }, async (t) => {
  const { app } = await archive(t)
  const { dataDir } = app.app.settings
  await run(app, 'back_up_offsite')
  const part = join(dataDir, 'restored-offsite.part')
  await put(join(part, 'a film'), 'x'.repeat(2_000_000))
  t.mock.method(fs, 'statfs', async () => ({ bavail: 100, blocks: 1e6, bsize: 4096 }))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })

  await app.app.offsite.rows.succeeded('backup', 1, { files: 1, bytes: 3_000_000, unread: 0 })
  assert.match((await restore(app, {})).result!, /^Everything takes 1 GB, more than is free/)
  await app.app.offsite.rows.succeeded('backup', 1, { files: 1, bytes: 2_000_000, unread: 0 })
  const { state: ended, result } = await restore(app, {})

  assert.equal(ended, 'SUCCESS', result ?? '')
})

test('a concurrent restore of a whole backup takes nothing from a restore of everything, and adds nothing to it', {
  skip: noRestic,
}, async (t) => {
  const { app } = await archive(t)
  const { settings, offsite, wholeBackups } = app.app
  await run(app, 'back_up_offsite')
  await run(app, 'back_up_all')
  const { filename } = (await wholeBackups.list())[0]!
  const { restic } = offsite
  t.mock.method(offsite, 'restic', async (args: readonly string[], how: Run) => {
    const said = await restic(args, how)
    if (args[0] !== 'restore') return said
    const { task_id: id } = (await app.as('admin').post(`/api/whole/${filename}/`, {})).body
    assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
    return said
  })

  const { state: ended, result } = await restore(app, {})

  assert.equal(ended, 'SUCCESS', result ?? '')
  assert.deepEqual(await filesBelow(join(result!, settings.mediaDir)), await filesBelow(settings.mediaDir))
  const [offered] = (await readdir(settings.dataDir)).filter((name) => /^restored-\d{8}T\d{6}$/.test(name))
  const names = await readdir(join(settings.dataDir, offered!))
  assert.deepEqual(
    names.filter((name) => !name.startsWith('ledger.sqlite')),
    ['restoring'],
  )
})

test('linked files are copied as if they were in place; a broken link is reported', {
  skip: noRestic,
}, async (t) => {
  const { app, repository } = await archive(t)
  const { mediaDir, cacheDir } = app.app.settings
  const linked = [join(mediaDir, 'UC1'), mediaDir, join(cacheDir, 'videos')]
  for (const [number, path] of linked.entries()) {
    const disk = join(dirname(repository), `disk-${number}`)
    await rename(path, disk)
    await symlink(disk, path)
  }
  await app.given(aChannel({ id: 'UC2' }), aVideo({ id: 'other', channelId: 'UC2' }))
  await put(app.app.media.pathOf('UC2', 'other'), 'another film')

  const job = await run(app, 'back_up_offsite')

  assert.equal(job.state, 'SUCCESS', job.result ?? '')
  const all = (await restore(app, {})).result!
  const films = await readdir(join(all, mediaDir), { recursive: true })
  assert.deepEqual(films.filter((name) => name.endsWith('.mp4')).sort(), [
    'UC1/kept.mp4',
    'UC1/lost.mp4',
    'UC1/third.mp4',
    'UC2/other.mp4',
  ])
  assert.equal(await readFile(join(all, app.app.media.artPathOf('video', 'lost')), 'utf8'), 'a picture')
  const film = app.app.media.pathOf('UC1', 'third')
  const whole = await readFile(film)
  await writeFile(film, 'rotten')
  assert.equal((await restore(app, { video: 'third' })).state, 'SUCCESS')
  assert.deepEqual(await readFile(film), whole)

  await rm(join(mediaDir, 'UC1'))
  await symlink('/nowhere', join(mediaDir, 'UC1'))
  const { state: ended, result } = await run(app, 'back_up_offsite')
  assert.deepEqual(
    [ended, result],
    ['FAILURE', 'The folder UC1 in the library is a broken link: connect its disk, or remove the link'],
  )
})

test('a broken link without a film behind it is reported, and everything is restored from this backup', {
  skip: noRestic,
}, async (t) => {
  const { app } = await archive(t)
  const { mediaDir } = app.app.settings
  await app.given(aChannel({ id: 'UC2' }))
  for (const name of ['UC2', 'an old disk']) await symlink('/nowhere', join(mediaDir, name))

  const { state: ended, result } = await run(app, 'back_up_offsite')
  const all = (await restore(app, {})).result!

  assert.equal(ended, 'SUCCESS', result ?? '')
  assert.match(
    result!,
    /^Files at the second site: \d+, unreadable: 0\. Broken links in the library: (UC2|an old disk), /,
  )
  const films = await readdir(join(all, mediaDir), { recursive: true })
  assert.equal(films.filter((name) => name.endsWith('.mp4')).length, 3)
})

test('a new film in a linked folder does not cause the others to be read again', { skip: noRestic }, async (t) => {
  const { app, repository } = await archive(t)
  const { mediaDir } = app.app.settings
  const disk = join(dirname(repository), 'disk')
  await rename(join(mediaDir, 'UC1'), disk)
  await symlink(disk, join(mediaDir, 'UC1'))
  await run(app, 'back_up_offsite')
  await put(app.app.media.pathOf('UC1', 'new'), 'a new film')
  const { offsite } = app.app
  const { restic } = offsite
  const read: unknown[] = []
  t.mock.method(offsite, 'restic', (args: readonly string[], how: Run) =>
    restic(args, {
      ...how,
      onMessage(message) {
        if (message['message_type'] === 'summary') read.push(message['files_new'])
        how.onMessage?.(message)
      },
    }),
  )

  await run(app, 'back_up_offsite')

  assert.equal(read.at(-1), 1)
})

test('a repository that was opened before is not created again while its disk is offline, except by hand', {
  skip: noRestic,
}, async (t) => {
  const { app, repository, set } = await archive(t)
  const tested = async () => (await app.as('admin').post('/api/offsite/test/')).status
  assert.match(
    (await restore(app, {})).result!,
    /^The second site was not found: connect its disk/,
    'never by a restore',
  )
  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')
  await rename(repository, `${repository}-away`)
  await mkdir(repository)

  for (const task of ['back_up_offsite', 'check_offsite'])
    assert.match((await run(app, task)).result!, /^The second site was not found: connect its disk/)
  assert.match((await restore(app, {})).result!, /^The second site was not found/)
  assert.deepEqual(await readdir(repository), [])
  assert.match((await state(app)).backup.failure, /^The second site was not found/)

  assert.equal(await tested(), 200)
  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS')
  await set({ repository: `${repository}-2` })
  assert.equal((await run(app, 'back_up_offsite')).state, 'SUCCESS', 'another address')
  await set({ repository })
  await rm(repository, { recursive: true })
  assert.match((await run(app, 'back_up_offsite')).result!, /^The second site was not found/, 'the first one again')
})
