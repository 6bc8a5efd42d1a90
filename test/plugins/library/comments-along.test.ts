/** Comments that yt-dlp wrote into the information file beside a film come along with it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commanded, scanned } from '../../support/adopting.ts'
import { type PlacesApp, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const [SAID, SILENT, HOSTILE] = ['saidSaidSai', 'silentSilen', 'hostileHost'] as const
const LONG = 'x'.repeat(200_000)

const comments = async (app: PlacesApp, id: string) => (await app.as('user').get(`/api/video/${id}/comment/`)).body.data

test('comments beside a film come along, checked, and leave with it', async (t) => {
  const app = await placesApp(t)
  const place = await app.place('films')
  const first = {
    id: 'one',
    parent: 'root',
    text: 'The first',
    author: 'Reader',
    author_id: 'UCreader',
    timestamp: 1_700_000_000,
  }
  const reply = { ...first, id: 'one.two', parent: 'one', text: 'An answer', like_count: 4 }
  const hostile = [
    null,
    7,
    'text',
    [],
    { text: 'of nobody' },
    { id: '../x', text: 'no id' },
    { ...first, text: LONG, author: { a: 1 } },
  ]
  await layFilm(app, `films/${SAID}.mp4`, infoOf(SAID, { comments: [first, reply] }))
  await layFilm(app, `films/${SILENT}.mp4`, infoOf(SILENT, { comments: 'none' }))
  await layFilm(app, `films/${HOSTILE}.mp4`, infoOf(HOSTILE, { comments: hostile }))
  const id = await scanned(app, place)

  await commanded(app, id, { command: 'adopt' })

  const [thread, ...others] = await comments(app, SAID)
  assert.deepEqual([thread.comment_text, thread.comment_author, others.length], ['The first', 'Reader', 0])
  assert.deepEqual(
    thread.comment_replies.map(({ comment_text: text, comment_likecount: likes }: Record<string, unknown>) => [
      text,
      likes,
    ]),
    [['An answer', 4]],
  )
  assert.equal((await app.as('user').get(`/api/video/${SAID}/`)).body.comment_count, 2)
  assert.deepEqual(await comments(app, SILENT), [])
  const [odd, ...more] = await comments(app, HOSTILE)
  assert.deepEqual([odd.comment_text.length, odd.comment_author, more.length], [10_000, '', 0])

  await commanded(app, id, { command: 'undo' })
  assert.equal((await app.as('user').get(`/api/video/${SAID}/comment/`)).status, 404)
})
