/** Without the plugin adoption, imported videos stay, and plans wait for its return. */
import assert from 'node:assert/strict'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { commanded, scanned } from '../../support/adopting.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { withPlaces } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const ID = 'aaaaaaaaaaa'
const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'

test('without it imported videos still play and are rescanned; with it they can be undone again', async (t) => {
  const scope = lastFirst(t)
  const [dataDir, root] = [await temporaryFolder(scope), await mkdtemp(join(tmpdir(), 'av-root-'))]
  const first = withPlaces(await testApp(scope, { dataDir, settings: { libraryRoots: [root] } }), root)
  const place = await first.place('old')
  await layFilm(first, `old/${ID}.mp4`, infoOf(ID))
  const plan = await scanned(first, place)
  await commanded(first, plan, { command: 'adopt' })
  await first.close()

  const without = await testApp(scope, { dataDir, settings: { libraryRoots: [root], pluginsOff: ['adoption'] } })
  const admin = without.as('admin')
  assert.equal((await admin.get(`/media/${CHANNEL}/${ID}.mp4`)).status, 200)
  for (const path of ['/api/adoption/', '/api/place/']) assert.equal((await admin.get(path)).status, 404)
  const rescan = await without.app.jobs.start('rescan_filesystem')
  const { state, result } = await without.app.jobs.ended(rescan.id)
  assert.deepEqual([state, await without.ids('video')], ['SUCCESS', [ID]], result ?? '')
  await without.close()

  const again = withPlaces(await testApp(scope, { dataDir, settings: { libraryRoots: [root] } }), root)
  assert.equal((await again.as('admin').get(`/api/adoption/${plan}/`)).body.state, 'adopted')
  await commanded(again, plan, { command: 'undo' })
  assert.deepEqual(await again.ids('video'), [])
})
