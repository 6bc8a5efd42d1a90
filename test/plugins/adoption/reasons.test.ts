/**
 * The reasons why something is not imported are sent as templates and values, so that each language can translate them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commanded, scanned } from '../../support/adopting.ts'
import { placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

test('rows of a plan have their reason in English, and as template and values', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('films')
  await layFilm(app, 'films/a.mp4', infoOf('ferryFerry1'))
  await layFilm(app, 'films/{file}.mp4', infoOf('ferryFerry1'))
  await app.lay('films/empty.mp4', '')
  const id = await scanned(app, place)

  const rows = (await app.as('admin').get(`/api/adoption/${id}/item/?outcome=problem`)).body.data

  const told = rows.map(({ code, reason, said }: Record<string, unknown>) => [code, reason, said])
  assert.deepEqual(told.sort(), [
    [
      'duplicate',
      'the same video as a.mp4, which is imported instead',
      {
        'the same video as a.mp4, which is imported instead': {
          key: 'the same video as {file}, which is imported instead',
          params: { file: 'a.mp4' },
        },
      },
    ],
    ['not_a_film', 'the file is empty', undefined],
  ])
})

test('the failure of a plan has a template and values, too', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('films')
  await layFilm(app, 'films/a.mp4', infoOf('ferryFerry1'))
  const id = await scanned(app, place)
  await commanded(app, id, { command: 'adopt' })

  const catalog = await app.lay('no.db', 'no database')
  const { body } = await app.as('admin').post('/api/adoption/', { place, source: 'pinchflat', catalog })
  await app.app.jobs.ended(body.task_id)

  const { body: failed } = await app.as('admin').get(`/api/adoption/${body.id}/`)
  const { key, params } = failed.said[failed.reason]
  assert.equal(failed.state, 'failed')
  assert.deepEqual([key, params.at], ['{at} cannot be read: {reason}', catalog])
  assert.equal(typeof params.reason.key, 'string')
})
