/** Imports TubeArchivist without its backup, by its folders alone. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { startTestPlatform } from '../../platform/start.ts'
import { PICTURE_FILE } from '../../support/film.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { listing, withPlaces } from '../../support/places.ts'
import { layFilm } from '../../support/ytdlp-folder.ts'

const HARBOUR = 'UCqnT2_QO_aL5-D0vQbK5hpy'
const [FERRY, CHARTS, GONE] = ['6Qh9CyDYDT4', 'OO35n9RkYkZ', 'goneGoneGo1'] as const

test('TubeArchivist’s folders alone identify channel and video, and pictures are taken from its cache', async (t) => {
  const scope = lastFirst(t)
  const root = await temporaryFolder(scope)
  const { settings } = await startTestPlatform(t)
  const app = withPlaces(await testApp(t, { settings: { ...settings, libraryRoots: [root] } }), root)
  const place = await app.place('media')
  for (const id of [FERRY, CHARTS, GONE]) await layFilm(app, `media/${HARBOUR}/${id}.mp4`)
  await app.lay(`cache/videos/6/${FERRY}.jpg`, await readFile(PICTURE_FILE))
  await app.lay('cache/channels/x.jpg', 'x')
  const before = await listing(root)

  const { body } = await app.as('admin').post('/api/adoption/', { place })
  assert.equal((await app.app.jobs.ended(body.task_id)).state, 'SUCCESS')
  const rows = (await app.as('admin').get(`/api/adoption/${body.id}/item/`)).body.data
  const { body: plan } = await app.as('admin').get(`/api/adoption/${body.id}/`)

  assert.equal(plan.source, 'tubearchivist')
  assert.deepEqual(
    rows.map((row: Record<string, unknown>) => [row.outcome, row.platform_id, row.channel_id]),
    [FERRY, CHARTS, GONE].map((id) => ['ask', id, HARBOUR]),
  )

  const moving = await app.as('admin').post(`/api/adoption/${body.id}/`, { command: 'adopt' })
  await app.app.jobs.ended(moving.body.task_id)
  const completing = app.app.jobs.active('complete_videos')
  if (completing) await app.app.jobs.ended(completing.id)
  // The platform no longer has the last one, but its folder names the channel.
  assert.deepEqual(await app.ids('video'), [FERRY, CHARTS, GONE])
  const { data: gone } = (await app.as('admin').get(`/api/video/${GONE}/`)).body
  assert.deepEqual([gone.title, gone.channel.channel_id, gone.active], [GONE, HARBOUR, false])
  const has = (id: string) => app.app.media.hasArt('video', id)
  assert.deepEqual([await has(FERRY), await has(CHARTS)], [true, false])
  assert.deepEqual(await listing(root), before)
})
