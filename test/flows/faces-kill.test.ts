/**
 * Kills the server while a face is filled or changed: the next start continues, and the result equals a newly made
 * face.
 */
import assert from 'node:assert/strict'
import { copyFile, cp, lstat, mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { lay } from '../plugins/faces/coming.ts'
import { PICTURE_FILE } from '../support/film.ts'
import { temporaryFolder } from '../support/folder.ts'
import { aJellyfin, aPlex, KEY } from '../support/media-servers.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { aChannel, PASSWORD, testApp } from '../support/testing.ts'
import '../support/long.ts'

const KILL = fileURLToPath(new URL('../support/kill-at.cjs', import.meta.url))
const ENV = { AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD }
const CHANNELS = ['UC1', 'UC2', 'UC3']
const VIDEOS = 60
const TEMPLATE = '{channel}/{year}/{title} [{id}]'

/** Every path below it with its text or its inode, including temporary files. */
async function treeOf(root: string): Promise<Record<string, string | number>> {
  const entries = (await readdir(root, { recursive: true, withFileTypes: true })).filter((one) => !one.isDirectory())
  const tree = await Promise.all(
    entries.map(async (entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name)
      const isText = /\.(nfo|m3u8)$/.test(path)
      return [path.slice(root.length + 1), isText ? await readFile(path, 'utf8') : (await lstat(path)).ino] as const
    }),
  )
  const isOurs = ([path]: readonly [string, unknown]) => path !== '.archivolt-face'
  return Object.fromEntries(tree.filter(isOurs).sort(([one], [other]) => (one < other ? -1 : 1)))
}

async function picture(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await copyFile(PICTURE_FILE, path)
}

/** A full update, including everything that is pending. */
async function update(server: Server): Promise<void> {
  await server.api('POST', '/api/task-name/update_faces/')
  await allQuiet(server)
}

const shownOf = async (server: Server) => (await server.api('GET', '/api/face/')).body.faces[0]

test('a killed render continues, wherever it was killed', async (t) => {
  const archive = await testApp(t)
  for (const id of CHANNELS) {
    await archive.given(aChannel({ id, channel_name: `Channel ${id}` }))
    await picture(archive.app.media.artPathOf('channel_thumb', id))
  }
  for (let at = 0; at < VIDEOS; at++) {
    const published = `202${at % 3}-0${1 + (at % 9)}-01`
    await lay(archive, { id: `v${at}`, channelId: CHANNELS[at % 3]!, title: `Film ${at}`, published })
    await picture(archive.app.media.artPathOf('video', `v${at}`))
  }
  await archive.close()
  const folder = join(await temporaryFolder(t), 'data')
  await cp(archive.dataDir, folder, { recursive: true })
  const root = join(folder, 'faces', 'tv')

  const first = await startServer(t, folder, ENV)
  const face = { name: 'TV', root, form: 'shows', selection: {}, template: TEMPLATE }
  await first.api('POST', '/api/face/', face)
  await update(first)
  const wanted: Record<string, Awaited<ReturnType<typeof treeOf>>> = { shows: await treeOf(root) }
  const { id } = await shownOf(first)
  await first.api('POST', `/api/face/${id}/`, { form: 'files' })
  await update(first)
  wanted['files'] = await treeOf(root)
  assert.equal(await first.end('SIGTERM'), 0)
  assert.equal(Object.keys(wanted['files']!).length, 2 * VIDEOS)
  assert.ok(Object.keys(wanted['shows']!).length > 3 * VIDEOS)

  let kills = 0
  for (const [at, calls] of [0, 1, 30, 75, 150].entries()) {
    const form = at % 2 === 0 ? 'shows' : 'files'
    const doomed = await startServer(t, folder, {
      ...{ ...ENV, NODE_OPTIONS: `--require ${KILL}` },
      ...{ AV_TEST_KILL_PATH: `${root}/Channel`, AV_TEST_KILL_CALLS: String(calls) },
    })
    await doomed.api('POST', `/api/face/${id}/`, { form }).catch(() => undefined)
    if ((await doomed.ended) === null) kills++
    assert.notDeepEqual(await treeOf(root), wanted[form])

    const server = await startServer(t, folder, ENV)
    await until(
      `the render goes on that was killed before call ${calls}`,
      () => treeOf(root).catch(() => undefined),
      (tree) => isDeepStrictEqual(tree, wanted[form]),
    )
    await allQuiet(server)
    const { state } = await shownOf(server)
    assert.deepEqual([state.error, state.problems], [undefined, undefined])
    assert.equal(await server.end('SIGTERM'), 0)
  }
  assert.equal(kills, 5)
})

for (const [kind, start] of Object.entries({ jellyfin: aJellyfin, plex: aPlex }))
  test(`a kill between a playlist in ${kind} and its row does not create it twice`, async (t) => {
    const archive = await testApp(t)
    await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
    await lay(archive, { id: 'v1', title: 'To sea', published: '2026-01-02' })
    await archive.close()
    const folder = join(await temporaryFolder(t), 'data')
    await cp(archive.dataDir, folder, { recursive: true })
    const root = join(folder, 'faces', 'tv')
    const env = { ...ENV, AV_PRIVATE_HOSTS: '127.0.0.1' }
    const doomed = await startServer(t, folder, env)
    await doomed.api('POST', '/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
    await allQuiet(doomed)
    const mediaServer = await start(t, root)
    mediaServer.scan()
    await doomed.api('POST', '/api/face/server/', { name: 'Den', kind, url: mediaServer.url, key: KEY })
    await allQuiet(doomed)
    mediaServer.answers.isLost = ({ method, path }) =>
      method === 'POST' && /^\/playlists$/i.test(path) && doomed.child.kill('SIGKILL')
    const { body } = await doomed.api('POST', '/api/playlist/custom/', { playlist_name: 'Both' })
    const entry = { action: 'create', video_id: 'v1' }
    await doomed.api('POST', `/api/playlist/custom/${body.playlist_id}/`, entry).catch(() => undefined)
    assert.equal(await doomed.ended, null)
    assert.deepEqual(mediaServer.playlists(), { Both: ['S2026E1 - To sea [v1].mp4'] })
    mediaServer.answers.isLost = () => false
    const asked = mediaServer.calls.length

    const server = await startServer(t, folder, env)
    await until(
      'the playlist is followed again',
      async () => mediaServer.calls.slice(asked),
      (calls) => calls.length > 0,
    )
    await allQuiet(server)

    assert.equal(mediaServer.lists.size, 1)
    const [shown] = (await server.api('GET', '/api/face/server/')).body
    assert.deepEqual([shown.playlists, shown.error], [1, ''])
  })
