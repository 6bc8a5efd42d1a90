/**
 * An archive of the version in which library did the work of adoption, playable and release: it continues unchanged.
 */
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aVideo, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import { commanded, scanned, succeeded } from '../../support/adopting.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { withPlaces } from '../../support/places.ts'
import { givenCopyAndPreviews } from '../../support/playable.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const [ONE, TWO] = ['aaaaaaaaaaa', 'bbbbbbbbbbb']

test('an interrupted import continues, and playable copies, seek previews and the last release are preserved', async (t) => {
  const scope = lastFirst(t)
  const [dataDir, root] = [await temporaryFolder(scope), await mkdtemp(join(tmpdir(), 'av-root-'))]
  const settings = { libraryRoots: [root], releasesUrl: 'http://127.0.0.1:9/' }
  const before = withPlaces(await testApp(scope, { dataDir, settings }), root)
  const place = await before.place('old')
  await layFilm(before, `old/${ONE}.mp4`, infoOf(ONE))
  await layFilm(before, `old/${TWO}.mp4`, infoOf(TWO))
  await before.as('admin').post(`/api/place/${place}/`, { path: join(root, 'old'), label: 'Old' })
  const plan = await scanned(before, place)
  await before.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1' }))
  await givenCopyAndPreviews(before, 'v1')
  await before.close()
  leaveAsEarlierVersion(join(dataDir, 'ledger.sqlite'), plan)

  const now = withPlaces(await testApp(scope, { dataDir, settings }), root)

  await succeeded(now, 'cut-off')
  await now.settled()
  assert.equal((await now.as('admin').get(`/api/adoption/${plan}/`)).body.state, 'adopted')
  assert.deepEqual(await now.ids('video'), [ONE, TWO, 'v1'])
  assert.equal((await now.as('admin').get('/api/video/v1/copy/')).body.state, 'there')
  assert.equal((await now.as('admin').get('/api/video/v1/preview/')).body.state, 'there')
  assert.equal((await now.as('admin').get('/api/ping/')).body.ta_update.version, 'v98.0.0')
  await commanded(now, plan, { command: 'undo' })
  assert.deepEqual(await now.ids('video'), ['v1'])
})

/** Tables and migrations as in that version, killed during an import. */
function leaveAsEarlierVersion(file: string, plan: number): void {
  const db = new Database(file)
  const owners = db.prepare(
    "SELECT owner, max(number) AS last FROM migrations WHERE owner IN ('library', 'adoption', 'playable', 'release') GROUP BY owner",
  )
  assert.deepEqual(owners.all(), [
    { owner: 'library', last: 12 },
    { owner: 'release', last: 1 },
  ])
  db.exec(`
    ALTER TABLE library_adoption_item DROP COLUMN is_channel_said;
    DELETE FROM migrations WHERE owner = 'library' AND number = 12;
    DROP TABLE release_latest;
    DELETE FROM migrations WHERE owner = 'release';
    INSERT INTO library_release (id, version) VALUES (1, 'v98.0.0');
    UPDATE library_adoption SET state = 'adopting', job_id = 'cut-off', ended_at = NULL WHERE id = ${plan};
    INSERT INTO jobs (id, task, lane, unique_key, state, payload, created_at, started_at)
      VALUES ('cut-off', 'adopt_videos', 'library', '${plan}', 'STARTED', '{"adoption":${plan}}', 1, 1);`)
  db.close()
}
