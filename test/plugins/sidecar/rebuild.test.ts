/**
 * An archive is rebuilt from its library alone: sidecars contain everything, films without one contain what they can.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { definePlugin } from 'archivolt'
import { openLog } from '../../../core/log.ts'
import { retag } from '../../support/ffmpeg.ts'
import { fill, stateOf } from '../../support/household.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst, type Scope } from '../../support/last-first.ts'
import { type TestApp, testApp } from '../../support/plugin-testing.ts'
import '../../support/long.ts'

async function folder(scope: Scope): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'av-rebuild-'))
  scope.after(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Records requests to the platform. */
function listener() {
  const asked: string[] = []
  const plugin = definePlugin({
    name: 'listener',
    needs: ['platform'],
    api: 1,
    setup({ platform }) {
      const all = platform as unknown as Record<string, unknown>
      for (const verb of ['video', 'channel', 'playlist', 'playlistsOf', 'list', 'download', 'subtitles', 'comments']) {
        const ask = all[verb] as (...args: unknown[]) => unknown
        all[verb] = (...args: unknown[]) => {
          asked.push(`${verb} ${args[0]}`)
          return ask(...args)
        }
      }
    },
  })
  return { asked, plugin }
}

const LOST = ['ledger.sqlite', 'ledger-copies', 'index.sqlite', 'index-in-use.json', 'secret.key']

/** Simulates the loss of the data folder, except for its library. */
async function lose(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir))
    if (LOST.some((lost) => name.startsWith(lost))) await rm(join(dataDir, name), { recursive: true })
}

async function write(app: TestApp): Promise<void> {
  assert.equal((await app.as('admin').post('/api/task-name/write_sidecars/')).status, 200)
  await app.settled()
  const done = app.app.ledger
    .sql("SELECT state FROM jobs WHERE task = 'write_sidecars' ORDER BY seq DESC LIMIT 1")
    .get()
  assert.deepEqual(done, { state: 'SUCCESS' })
}

for (const { index, skip } of INDEXES)
  test(`on ${index}: everything is restored from the library alone, without a request to the platform`, {
    skip,
  }, async (t) => {
    const scope = lastFirst(t)
    const dataDir = await folder(scope)
    const before = await testApp(scope, { dataDir, settings: await indexSettings(scope, index, 'rebuild') })
    await fill(before)
    await write(before)
    const was = await stateOf(before)
    assert.equal(Object.keys(was.video).length, 3)
    const { subtitle, checksums, entries, marks, positions, rules } = was
    assert.deepEqual(
      [
        Object.keys(subtitle).length > 0,
        checksums.length,
        entries.length,
        marks.length,
        positions.length,
        rules.length,
      ],
      [true, 6, 7, 2, 1, 2],
    )
    await before.close()
    await lose(dataDir)

    const { asked, plugin } = listener()
    const settings = await indexSettings(scope, index, 'rebuilt')
    const after = await testApp(scope, { dataDir, settings, plugins: [plugin] })
    await after.close()
    await lose(dataDir)
    const preview = await after.command('rebuild')
    assert.deepEqual([preview.code, preview.error], [0, undefined])
    assert.ok(preview.said.includes('videos: 3 in sidecars; 3 would be added'), preview.said.join('\n'))
    const done = await after.command('rebuild --yes')
    assert.deepEqual([done.code, done.error], [0, undefined], done.said.join('\n'))
    assert.ok(!done.said.some((line) => line.startsWith('Refused')), done.said.join('\n'))
    assert.deepEqual(asked, [])
    await after.restart()
    await after.settled()

    assert.deepEqual(await stateOf(after), was)
    assert.equal(await after.app.media.absence(), undefined, 'the library is accepted')
    const again = await after.command('rebuild --yes')
    assert.ok(again.said.includes('videos: 3 in sidecars; 0 added'), again.said.join('\n'))
    await after.settled()
    assert.deepEqual(await stateOf(after), was, 'it may be done twice')
  })

for (const lost of [/^index/, /^ledger/, /^(?!media)/])
  test(`what is lost with ${lost} is restored from sidecars`, async (t) => {
    const scope = lastFirst(t)
    const dataDir = await folder(scope)
    const app = await testApp(scope, { dataDir })
    await fill(app)
    await write(app)
    const was = await stateOf(app)
    await app.close()
    for (const name of await readdir(dataDir))
      if (lost.test(name)) await rm(join(dataDir, name), { recursive: true, force: true })

    const done = await app.command('rebuild --yes')
    assert.deepEqual([done.code, done.error], [0, undefined], done.said.join('\n'))
    await app.restart()
    await app.settled()

    assert.deepEqual(await stateOf(app), was)
  })

test('a rebuild shows an account nothing that its view has lost since the sidecars of channels were written', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await folder(scope)
  const app = await testApp(scope, { dataDir })
  await fill(app)
  const { id } = app.app.accounts.list().find(({ username }) => username === 'ben')!
  const show = async (view: object) =>
    assert.equal((await app.as('admin').post(`/api/user/${id}/`, { view })).status, 200)
  await show({ channel: ['UC1', 'UC2'], playlist: ['PL1'] })
  await write(app)
  const own = join(app.app.settings.mediaDir, '.archivolt')
  for (const name of ['channels/UC1', 'playlists/PL1'])
    assert.doesNotMatch(await readFile(join(own, `${name}.archivolt.json`), 'utf8'), /ben|seen/, name)
  await show({ channel: ['UC2'] })
  await app.app.jobs.run('write_sidecars', { scheduled: true })
  const was = await stateOf(app)
  await app.close()
  await lose(dataDir)

  const done = await app.command('rebuild --yes')
  assert.deepEqual([done.code, done.error], [0, undefined], done.said.join('\n'))
  await app.restart()
  await app.settled()

  assert.deepEqual((await stateOf(app)).accounts, was.accounts)
})

test('a rebuild into an archive with other groups adds missing groups, and accounts and rules still refer to theirs', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await folder(scope)
  const app = await testApp(scope, { dataDir })
  await fill(app)
  await write(app)
  await app.close()
  await lose(dataDir)
  const said: string[] = []
  const log = openLog('error', { write: (line) => void said.push(JSON.parse(line).msg) })
  const other = await testApp(scope, { dataDir, log })
  await other.as('admin').post('/api/group/', { name: 'Not for children', members: [{ kind: 'channel', id: 'UC1' }] })
  said.length = 0

  for (const added of ['added', 'found']) {
    const done = await other.command('rebuild --yes')
    assert.deepEqual([done.code, done.error], [0, undefined], done.said.join('\n'))

    const { groups, rules, accounts } = other.app
    const [sea, ...more] = groups.list().filter(({ name }) => name === 'Sea')
    assert.deepEqual([sea?.members, more], [[{ kind: 'channel', id: 'UC2' }], []], added)
    assert.deepEqual(accounts.list().find(({ username }) => username === 'cleo')?.view?.['group'], [String(sea!.id)])
    assert.deepEqual(
      rules.list('keep').map(({ scope }) => scope),
      [{ kind: 'group', id: sea!.id }],
    )
  }
  const isAway = (line: string) => line.startsWith('The library can’t be found')
  assert.deepEqual(said.filter(isAway), [], 'whoever rebuilds an archive accepts its library')
})

test('a film without a sidecar is restored from its own metadata and its neighbors’; foreign, newer, huge and invalid sidecars are refused by name', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await folder(scope)
  const { asked, plugin } = listener()
  const app = await testApp(scope, { dataDir, plugins: [plugin] })
  await fill(app)
  await write(app)
  const was = await stateOf(app)
  const { media } = app.app
  const [film, home] = [media.pathOf('UC1', 'v1'), dirname(media.pathOf('UC1', 'v1'))]
  const beside = (id: string) => join(home, `${id}.archivolt.json`)
  await app.close()
  const told = JSON.parse(await readFile(beside('v1'), 'utf8'))
  const put = (id: string, record: object) => {
    const body = JSON.stringify({ ...told, sha256: undefined, id, ...record }).slice(0, -1)
    return writeFile(beside(id), `${body},"sha256":"${createHash('sha256').update(body).digest('hex')}"}\n`)
  }

  await rm(beside('v2'))
  await retag(join(home, 'v2.mp4'), join(home, 'retagged.mp4'), 'Tagged title')
  await copyFile(join(home, 'retagged.mp4'), join(home, 'v2.mp4'))
  await rm(join(home, 'retagged.mp4'))
  for (const id of ['w1', 'w2', 'w3', 'w4', 'w5', 'w6', 'w7']) await copyFile(film, join(home, `${id}.mp4`))
  await writeFile(
    join(home, 'w1.info.json'),
    JSON.stringify({ id: 'w1', title: 'From its file', channel_id: 'UC1', channel: 'Sea', upload_date: '20200102' }),
  )
  await copyFile(beside('v1'), beside('w2'))
  await put('w3', { version: 2 })
  await put('w4', {})
  await truncate(beside('w4'), 65 << 20)
  await put('w5', { video: { ...told.video, platform_id: 'w5', title: 5 } })
  await symlink(beside('v1'), beside('w6'))
  // It contains foreign keys.
  await put('w7', {
    video: { ...told.video, platform_id: 'w7', title: 'Mine', watched_by: ['1'], restored_mark: 1, playlist: [] },
    comments: undefined,
    film: {
      videoId: 'v3',
      channelId: 'UC2',
      placeId: 1,
      path: '../../secret.key',
      ending: 'mp4',
      sizeBytes: 1,
      changedMs: 1,
      state: 'there',
    },
    others: {
      watch: { marks: [['admin', 'soon']], positions: [['nobody', 1, 1, 1]] },
      playlist: 'all of them',
      checksum: [{ kind: 'video', part: '../x', sha256: 'no' }],
      users: [{ id: 1, password: '' }],
    },
  })
  await put('w9', { video: { ...told.video, platform_id: 'w9' } })
  await writeFile(beside('w9'), (await readFile(beside('w9'), 'utf8')).replace('Herring', 'Hesring'))
  await put('w8', { video: { ...told.video, platform_id: 'w8' }, comments: { ...told.comments, platform_id: 'v3' } })
  await lose(dataDir)

  asked.length = 0
  const done = await app.command('rebuild --yes')
  assert.deepEqual([done.code, done.error], [0, undefined])
  assert.deepEqual(asked, [])
  assert.deepEqual(done.said.filter((line) => line.startsWith('Refused: ')).sort(), [
    'Refused: UC1/w2.archivolt.json: Its name and its content are about different videos',
    'Refused: UC1/w3.archivolt.json: It was written by a newer version of Archivolt: update first',
    'Refused: UC1/w4.archivolt.json: It is larger than 64 MB',
    'Refused: UC1/w5.archivolt.json: The record of w5 is damaged: video.title must be a string',
    'Refused: UC1/w6.archivolt.json: It is a link',
    'Refused: UC1/w8.archivolt.json: The record of w8 is about another video',
    'Refused: UC1/w9.archivolt.json: It is damaged: its checksum is wrong',
  ])
  assert.ok(await stat(`${beside('w3')}.refused`), 'and not written over')
  await app.restart()
  await app.settled()
  const is = await stateOf(app)

  const titles = Object.entries(is.video).map(([id, doc]) => `${id}: ${(doc as { title: string }).title}`)
  assert.deepEqual(titles.sort(), [
    ...['v1: Herring v1', 'v2: Tagged title', 'v3: Herring v3', 'w1: From its file'],
    ...['w2: w2', 'w3: w3', 'w4: w4', 'w5: w5', 'w6: w6', 'w7: Mine'],
  ])
  for (const id of ['v1', 'v3']) assert.deepEqual(is.video[id], was.video[id])
  assert.deepEqual(is.comment, was.comment)
  assert.deepEqual(is.accounts, was.accounts)
  assert.deepEqual(
    is.marks,
    was.marks.filter((mark) => !JSON.stringify(mark).includes('v2')),
  )
  assert.deepEqual(is.positions, [])
  assert.ok(app.app.media.isOurs('w7'), 'it cannot say that its film lies elsewhere')
  assert.ok(done.said.some((line) => line.includes('of nobody, because these accounts do not exist')))
})

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const KILL = fileURLToPath(new URL('../../support/kill-at.cjs', import.meta.url))

/**
 * Runs the command in its own process.
 * @returns the exit code; null if it was killed
 */
function rebuildApart(dataDir: string, calls: number): Promise<number | null> {
  const typed = ['--require', KILL, '--import', 'tsx', '--conditions=source', 'config/cli/main.ts', 'rebuild', '--yes']
  const env = {
    PATH: process.env['PATH'],
    AV_DATA_DIR: dataDir,
    AV_YTDLP_UPDATE: 'off',
    AV_TEST_KILL_CALLS: `${calls}`,
  }
  const child = spawn(process.execPath, typed, {
    ...{ cwd: ROOT, stdio: 'ignore' },
    env: { ...env, AV_TEST_KILL_PATH: '(?:/cache/videos/.*\\.jpg|\\.refused|\\.archivolt-library)$' },
  })
  return new Promise((resolve) => child.once('exit', resolve))
}

test('a rebuild that is killed anywhere continues when it is started again', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await folder(scope)
  const app = await testApp(scope, { dataDir })
  await fill(app)
  await app.app.videos.change('v1', { set: { active: false } })
  await write(app)
  const was = await stateOf(app)
  const { media } = app.app
  const pictures = ['v1', 'v3'].map((id) => media.artPathOf('video', id))
  const foreign = media.pathOf('UC1', 'x1').replace('.mp4', '.archivolt.json')
  await app.close()
  await lose(dataDir)
  // Pictures of videos that the platform no longer has are in their sidecars.
  await rm(join(dataDir, 'cache'), { recursive: true })
  await writeFile(foreign, '{')

  let [calls, code]: [number, number | null] = [0, null]
  for (; code === null && calls < 20; calls++) code = await rebuildApart(dataDir, calls)
  assert.equal(code, 0)
  assert.ok(calls >= 4, `it was killed ${calls - 1} times`)
  await app.restart()
  await app.settled()

  assert.deepEqual(await stateOf(app), was)
  for (const picture of pictures) assert.ok((await stat(picture)).size > 0)
})
