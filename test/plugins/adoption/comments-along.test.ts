/** Comments are imported from the information file of a film, from a program's backup, or from the film itself. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { writeAtom } from '../../support/film-atom.ts'
import { expectedOf, makeLibraries } from '../../support/libraries.ts'
import { listing, type PlacesApp, placesApp } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'
import '../../support/long.ts'

const [SAID, SILENT, HOSTILE] = ['saidSaidSai', 'silentSilen', 'hostileHost'] as const
const LONG = 'x'.repeat(200_000)

const comments = async (app: PlacesApp, id: string) => (await app.as('user').get(`/api/video/${id}/comment/`)).body.data

test('comments of a film are checked, imported, and removed with it', async (t) => {
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

const FERRY = '6Qh9CyDYDT4'
const HARBOUR = 'UCqnT2_QO_aL5-D0vQbK5hpy'
const said = (id: string, text: string) => ({
  youtube_id: id,
  comment_comments: [{ comment_id: 'Ugx1', comment_text: text, comment_author: '@a', comment_parent: 'root' }],
})

test('comments in a backup of TubeArchivist are imported', async (t) => {
  const app = await placesApp(t)
  await makeLibraries(app.root, ['tubearchivist-v05'])
  const library = join(app.root, 'tubearchivist-v05')
  for (const { file, facts_from: from } of (await expectedOf(app.root, 'tubearchivist-v05')).videos)
    if (from === 'platform') await rm(join(library, file))
  const id = await scanned(app, await app.place('tubearchivist-v05/media'))

  await commanded(app, id, { command: 'adopt' })

  const [thread, ...others] = await comments(app, '-breakwater')
  assert.deepEqual([thread.comment_text, thread.comment_author, others.length], ['lovely', '@a', 0])
  assert.equal((await app.as('user').get('/api/video/-breakwater/')).body.comment_count, 1)
  assert.deepEqual(await comments(app, FERRY), [])
})

test('the metadata that TubeArchivist has written into films is used if there is no other: the platform is not asked', async (t) => {
  const { platform, settings } = await startTestPlatform(t)
  const app = await placesApp(t, { settings })
  const place = await app.place('media')
  const video = {
    ...{ youtube_id: FERRY, title: 'The ferry', published: 1_700_000_000, vid_type: 'streams', active: true },
    channel: { channel_id: HARBOUR, channel_name: 'Harbour' },
    player: { duration: 1 },
  }
  const films = {
    [FERRY]: JSON.stringify({ video, comments: said(FERRY, 'In the film'), subtitles: [], version: 'v0.5.10' }),
    otherOther1: JSON.stringify({ video, comments: said(FERRY, 'Of another film') }),
    brokenBroke: '{"video":',
  }
  for (const [id, text] of Object.entries(films)) {
    const path = join(app.root, 'media', HARBOUR, `${id}.mp4`)
    await makeFilm(path, ['-c:v', 'libx264', '-c:a', 'aac', '-fflags', '+bitexact'])
    await writeAtom(path, 'com.tubearchivist', 'ta', text)
  }
  const before = await listing(app.root)
  const id = await scanned(app, place)
  const plan = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body.data
  assert.deepEqual(
    plan.map((row: Record<string, string>) => [row.outcome, row.platform_id, row.title, row.code ?? '']),
    [
      ['new', FERRY, 'The ferry', ''],
      ['ask', 'brokenBroke', 'brokenBroke', ''],
      ['ask', 'otherOther1', 'otherOther1', ''],
      ['problem', 'otherOther1', '', 'foreign_sidecar'],
    ],
  )

  await commanded(app, id, { command: 'adopt' })

  const { body } = await app.as('user').get(`/api/video/${FERRY}/`)
  assert.deepEqual([body.title, body.vid_type, body.comment_count], ['The ferry', 'streams', 1])
  assert.equal((await comments(app, FERRY))[0].comment_text, 'In the film')
  // The platform has neither of the other two: their names and the folder suffice.
  assert.deepEqual(await app.ids('video'), [FERRY, 'brokenBroke', 'otherOther1'].toSorted())
  const asked = (one: string) => platform.requests.some(({ path }: { path: string }) => path.includes(one))
  assert.deepEqual([FERRY, 'otherOther1'].map(asked), [false, true])
  assert.deepEqual(await listing(app.root), before)
})
