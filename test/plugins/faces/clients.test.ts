/** Other clients find the playlists that we created: the stand-ins answer as the servers do. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { aJellyfin, aPlex, KEY, OWNER, type StandIn } from '../../support/media-servers.ts'
import { installReaders, read, readInNode } from '../../support/readers.ts'
import { missingHere } from '../../support/required.ts'
import { aChannel, testApp } from '../../support/testing.ts'
import { lay } from './coming.ts'

type Client = (server: StandIn) => ReturnType<typeof read>
const CLIENTS: Array<[name: string, kind: 'jellyfin' | 'plex', client: Client]> = [
  ['PlexAPI', 'plex', ({ url }) => read('plex_lists.py', [url, KEY])],
  ['Jellyfin’s client in Python', 'jellyfin', ({ url }) => read('jellyfin.py', [url, KEY, OWNER])],
  ['Jellyfin’s SDK for JavaScript', 'jellyfin', ({ url }) => readInNode('jellyfin.mjs', [url, KEY, OWNER])],
]

async function given(t: TestContext, kind: 'jellyfin' | 'plex') {
  const archive = await testApp(t, { settings: { privateHosts: ['127.0.0.1'] } })
  const admin = archive.as('admin')
  await archive.given(aChannel({ id: 'UC1', channel_name: 'Boats' }))
  for (const id of ['v1', 'v2', 'v3']) await lay(archive, { id, title: `Film & ${id}`, published: '2026-01-02' })
  const root = join(archive.dataDir, 'faces', 'tv')
  await admin.post('/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
  await archive.settled()
  const { body } = await admin.post('/api/playlist/custom/', { playlist_name: 'Both' })
  for (const video_id of ['v3', 'v1', 'v2'])
    await admin.post(`/api/playlist/custom/${body.playlist_id}/`, { action: 'create', video_id })
  await archive.settled()
  const server = await (kind === 'plex' ? aPlex : aJellyfin)(t, root)
  server.scan()
  await admin.post('/api/face/server/', { name: 'Den', kind, url: server.url, key: KEY })
  await archive.settled()
  const pathOf = (id: string) => {
    const number = Number(id.slice(1))
    return join(root, `Boats [UC1]/Season 2026/S2026E${number} - Film & ${id} [${id}].mp4`)
  }
  return { server, pathOf }
}

for (const [name, kind, client] of CLIENTS)
  test(`${name} reads our playlist in its order, and creates and changes its own`, async (t) => {
    const reason = await installReaders()
    if (reason) return t.skip(missingHere('readers', reason))
    const { server, pathOf } = await given(t, kind)

    const { code, output } = await client(server)

    assert.equal(code, 0, output)
    const { both, mine } = JSON.parse(output.trim().split('\n').at(-1)!)
    assert.deepEqual(both, ['v3', 'v1', 'v2'].map(pathOf))
    assert.deepEqual(mine, (kind === 'plex' ? ['v2', 'v1'] : ['v1', 'v2']).map(pathOf))
  })
