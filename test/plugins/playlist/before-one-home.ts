/** The data of a version that stored shared playlists in the index, and the result of an update. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { aPlaylist, type TestApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { ownTables } from '../../../plugins/playlist/custom-tables.ts'
import { anApp, entriesOf, idsOf, isSettled, rowsOf } from './own-suite.ts'

/** The playlists of an account: their storage, name and videos. */
type Before = [id: string, stage: 'private' | 'moving' | 'shared', name: string | null, videos: string]

const BEFORE: Before[] = [
  ['watchlater', 'private', null, 'ba'],
  ['mine', 'private', 'Mine', 'c'],
  ['ours', 'shared', null, ''],
  ['once-private', 'shared', 'As it was', 'a'],
  ['without-document', 'shared', 'Lost', 'c'],
  ['gone', 'shared', null, ''],
  ['being-shared', 'moving', 'On its way', 'ab'],
  ['being-hidden', 'moving', 'On its way back', 'b'],
]
const DOCUMENTS: Record<string, string> = { ours: 'ab', 'once-private': 'de', 'being-hidden': 'b', nobodys: 'c' }

/** A closed app with the ledger of that version. */
export async function leftByOlder(t: TestContext): Promise<TestApp> {
  const app = await anApp(t)
  for (const [id, videos] of Object.entries(DOCUMENTS))
    await app.given(
      aPlaylist({
        id,
        playlist_type: 'custom',
        playlist_name: `Document of ${id}`,
        entries: [...videos].map((platform_id) => ({ platform_id, downloaded: true })),
      }),
    )
  await app.close()
  const db = new Database(join(app.dataDir, 'ledger.sqlite'))
  db.exec(`
    DROP TABLE playlist_custom_entry;
    DROP TABLE playlist_custom;
    DROP TABLE playlist_unsettled;
    DROP TABLE playlist_twin;
    DELETE FROM migrations WHERE owner = 'playlist' AND number >= 2;
    DELETE FROM schedules; -- most are long due by the clock of a whole program, and ask a platform that is not there
    ${ownTables.sql}
    INSERT INTO jobs (id, task, lane, unique_key, internal, state, payload, created_at) VALUES
      ('1', 'playlist.share', 'light', 'being-shared', 1, 'STARTED', '{"id":"being-shared"}', 0),
      ('2', 'playlist.makePrivate', 'light', 'being-hidden', 1, 'PENDING', '{"id":"being-hidden"}', 0)`)
  for (const [id, stage, name, videos] of BEFORE) {
    db.prepare('INSERT INTO playlist_own VALUES (?, 2, ?, ?, 5)').run(id, stage, name)
    const put = db.prepare('INSERT INTO playlist_own_entry VALUES (?, 2, ?, ?, null, ?)')
    for (const [place, video] of [...videos].entries()) put.run(id, video, `Video ${video}`, place)
  }
  db.close()
  return app
}

const TAKEN = {
  'being-hidden': 'b',
  'being-shared': 'ab',
  mine: 'c',
  nobodys: 'c',
  'once-private': 'de',
  ours: 'ab',
  'watchlater/2': 'ba',
  'without-document': 'c',
}
const SHARED = ['being-shared', 'nobodys', 'once-private', 'ours', 'without-document']

export async function assertTaken(app: TestApp): Promise<void> {
  assert.deepEqual(rowsOf(app), TAKEN)
  assert.equal(isSettled(app), true)
  assert.deepEqual(idsOf(await app.as('admin').get('/api/playlist/?type=custom')).sort(), SHARED)
  const own = idsOf(await app.as('user').get('/api/playlist/?own=true')).sort()
  assert.deepEqual(
    own,
    ['watchlater', 'mine', 'being-hidden', ...SHARED.filter((id) => id !== 'nobodys')].sort(),
    'whose they are',
  )
  for (const id of own) assert.equal(await entriesOf(app.as('user'), id), rowsOf(app)[id] ?? 'ba', id)
}
