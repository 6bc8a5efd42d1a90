/**
 * Kills the server at every write while a playlist is shared or made private, and while those of an older version are
 * converted: the next start finishes it.
 */
import assert from 'node:assert/strict'
import { cp, rm } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { assertTaken, leftByOlder } from '../plugins/playlist/before-one-home.ts'
import { temporaryFolder } from '../support/folder.ts'
import { type Server, startServer, until } from '../support/server.ts'
import { aChannel, aVideo, PASSWORD, testApp, testClock } from '../support/testing.ts'

const CRASH = fileURLToPath(new URL('../data/plugins/crash', import.meta.url))
const VIDEOS = ['c', 'a', 'd', 'b']

/**
 * Alternates between sharing and making private, so that each start finishes the previous one. Sharing changes videos
 * twice, making private once.
 */
const POINTS: Array<['shared' | 'private', string]> = [
  ['shared', 'patchWhere:1'],
  ['private', 'patchWhere:3'],
  ['shared', 'patchWhere:3'],
  ['private', 'playlist remove:before'],
  ['shared', 'playlist create:before'],
  ['private', 'playlist remove:after'],
  ['shared', 'playlist create:after'],
]

test('a playlist that is shared or made private, interrupted anywhere, is complete for those who may see it', async (t) => {
  const folder = await temporaryFolder(t)
  const filling = await testApp({ after: () => undefined }, { clock: testClock(Date.now()) })
  await filling.given(aChannel(), ...VIDEOS.map((id) => aVideo({ id })))
  const Authorization = `Token ${await filling.app.accounts.token(2)}`
  const { body } = await filling.as('user').post('/api/playlist/custom/', { playlist_name: 'Ours' })
  const id: string = body.playlist_id
  for (const video_id of VIDEOS) await filling.as('user').post(`/api/playlist/${id}/`, { action: 'create', video_id })
  await filling.close()
  await cp(filling.dataDir, folder, { recursive: true })
  await rm(filling.dataDir, { recursive: true })

  const start = (crashAt: string) =>
    startServer(t, folder, {
      AV_USERNAME: 'admin',
      AV_PASSWORD: PASSWORD,
      ...(crashAt && { AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: crashAt }),
    })
  const asOwner = (server: Server, method: string, path: string, body?: object) =>
    server.api(method, path, body, { Authorization })

  /**
   * At any moment its owner sees all of it, once; others see all of it or none.
   * @returns its visibility
   */
  async function look(server: Server): Promise<string> {
    const [own, others, list] = [
      await asOwner(server, 'GET', `/api/playlist/${id}/`),
      await server.api('GET', `/api/playlist/${id}/`),
      await asOwner(server, 'GET', '/api/playlist/'),
    ]
    const videosIn = (record: any) => record.playlist_entries.map(({ platform_id }: any) => platform_id)
    assert.deepEqual([own.body.data.playlist_name, videosIn(own.body.data)], ['Ours', VIDEOS])
    assert.deepEqual(
      list.body.data.map(({ playlist_id }: any) => playlist_id),
      [id],
    )
    if (others.status === 200) assert.deepEqual(videosIn(others.body.data), VIDEOS)
    else assert.equal(others.status, 404)
    return own.body.data.playlist_visibility
  }

  async function isWhole(server: Server, visibility: string): Promise<void> {
    await until(
      `it is ${visibility}, and nothing runs any more`,
      async () => {
        const { body } = await server.api('GET', '/api/video/')
        const held = body.data.map(({ playlist }: any) => playlist)
        return JSON.stringify([await look(server), held])
      },
      (seen) => seen === JSON.stringify([visibility, VIDEOS.map(() => (visibility === 'shared' ? [id] : []))]),
    )
    assert.equal((await server.api('GET', `/api/playlist/${id}/`)).status, visibility === 'shared' ? 200 : 404)
    assert.equal(
      (await server.api('GET', '/api/playlist/')).body.data.length,
      visibility === 'shared' ? 1 : 0,
      'in the list of others',
    )
  }

  let before = 'private'
  for (const [visibility, point] of POINTS) {
    await t.test(point, async (t) => {
      const doomed = await start(point)
      t.after(() => doomed.end('SIGKILL'))
      await isWhole(doomed, before)
      before = visibility
      await assert.rejects(
        asOwner(doomed, 'POST', `/api/playlist/${id}/`, { playlist_visibility: visibility }),
        'nobody has answered',
      )
      assert.equal(await doomed.ended, null, `killed at ${point}`)
    })
  }
  await isWhole(await start(''), before)
})

for (const point of [
  'playlist.settle:before',
  'playlist.settle:after',
  ...['create', 'remove'].flatMap((method) => [`playlist ${method}:before`, `playlist ${method}:after`]),
])
  test(`playlists of an older version are converted, also after a kill at ${point}`, async (t) => {
    const older = await leftByOlder(t)
    const folder = await temporaryFolder(t)
    await cp(older.dataDir, folder, { recursive: true })
    const env = { AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD, AV_PLUGINS_DIR: CRASH, AV_CRASH_AT: point }
    const end = await startServer(t, folder, env).then(
      ({ ended }) => ended,
      (thrown: Error) => (/^It ended with null/.test(thrown.message) ? null : thrown),
    )
    assert.equal(end, null, 'it was killed')

    const app = await testApp(t, { dataDir: folder, clock: testClock(Date.now()) })
    await app.settled()

    await assertTaken(app)
  })
