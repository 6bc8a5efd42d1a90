/** Transcript search: hits as clips, on both indexes and within a view; joined into one film, stopped, and removed. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { aChannel, aFragment, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { toClips, within } from '../../../plugins/said/clips.ts'
import { makeFilm } from '../../support/ffmpeg.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import '../../support/long.ts'

const hit = (id: string, start: string, end: string, line: string) => ({
  ...{ platform_id: id, title: id, subtitle_start: start, subtitle_end: end, subtitle_line: line },
  ...{ subtitle_channel: 'Mill', subtitle_channel_id: 'mill', vid_thumb_url: '/x.jpg' },
})

test('overlapping clips of a video are merged, and videos are in the order of their best hits', () => {
  const clips = toClips([
    hit('b', '00:02:00.000', '00:02:05.500', 'late'),
    hit('a', '00:00:01.000', '00:00:03.000', 'first'),
    hit('b', '00:01:00.000', '00:01:05.000', 'one'),
    hit('b', '00:01:12.000', '00:01:15.000', 'two'),
    hit('b', '00:01:00.000', '00:01:04.000', 'one'),
  ])

  assert.deepEqual(
    clips.map(({ platform_id: id, start, end, lines }) => [id, start, end, lines]),
    [
      ['b', 56, 79, ['one', 'two']],
      ['b', 116, 129.5, ['late']],
      ['a', 0, 7, ['first']],
    ],
  )
  assert.deepEqual(
    within(clips, 40).map(({ start }) => start),
    [56, 116],
  )
})

test('a file has the first seconds of all clips, even if the first clip is longer', () => {
  const clip = (start: number, end: number) => ({ ...toClips([hit('a', '0', '1', 'x')])[0]!, start, end })
  const timesOf = (clips: Array<ReturnType<typeof clip>>) => within(clips, 1200).map(({ start, end }) => [start, end])

  assert.deepEqual(timesOf([clip(100, 1600), clip(0, 10)]), [[100, 1300]])
  assert.deepEqual(timesOf([clip(0, 10), clip(100, 1600), clip(0, 10)]), [
    [0, 10],
    [100, 1290],
  ])
  assert.deepEqual(timesOf([clip(0, 1200), clip(0, 10)]), [[0, 1200]])
  assert.deepEqual(timesOf([clip(0, 1195), clip(0, 10)]), [[0, 1195]], 'five seconds end as the words begin')
})

async function anArchive(t: TestContext, index: IndexPlace = 'the embedded index'): Promise<TestApp> {
  const scope = lastFirst(t)
  const app = await testApp(scope, { settings: await indexSettings(scope, index, 'said') })
  await app.given(
    aChannel({ id: 'mill', channel_name: 'Old Mill' }),
    aChannel({ id: 'lab', channel_name: 'Lab' }),
    aVideo({ id: 'v1', channelId: 'mill', title: 'Sourdough <b>' }),
    aVideo({ id: 'v2', channelId: 'lab', title: 'Kernel' }),
    aFragment({
      platform_id: 'v1',
      channel_id: 'mill',
      subtitle_line: 'the bread & salt',
      subtitle_start: '00:00:10.000',
      subtitle_end: '00:00:12.000',
    }),
    aFragment({
      platform_id: 'v2',
      channel_id: 'lab',
      subtitle_line: 'no bread here',
      subtitle_start: '00:00:00.000',
      subtitle_end: '00:00:02.000',
    }),
    // After the end of its film.
    aFragment({
      id: 'v2-en-2',
      platform_id: 'v2',
      channel_id: 'lab',
      subtitle_index: 2,
      subtitle_line: 'salt for ever',
      subtitle_start: '01:00:00.000',
      subtitle_end: '01:00:02.000',
    }),
  )
  return app
}
const ask = (app: TestApp, as: string, query: string) => app.as(as).get(`/api/said/?query=${encodeURIComponent(query)}`)

for (const { index, skip } of INDEXES)
  describe(`transcript search on ${index}`, { skip }, () => {
    test('finds clips that the account may see', async (t) => {
      const app = await anArchive(t, index)
      await app.as('admin').post('/api/user/', { username: 'lina', password: PASSWORD, view: { channel: ['mill'] } })

      const all = await ask(app, 'user', 'full:bread')
      const seen = await ask(app, 'lina', 'full:bread')

      assert.deepEqual(all.body.clips.map((clip: any) => clip.platform_id).sort(), ['v1', 'v2'])
      assert.deepEqual(seen.body, {
        clips: [
          {
            platform_id: 'v1',
            title: 'Sourdough <b>',
            channel_name: 'Old Mill',
            channel_id: 'mill',
            vid_thumb_url: all.body.clips.find((clip: any) => clip.platform_id === 'v1').vid_thumb_url,
            start: 6,
            end: 16,
            lines: ['the <span class="settings-current">bread</span> &amp; salt'],
          },
        ],
        is_more: false,
      })
    })
  })

test('only a search in subtitles returns clips', async (t) => {
  const app = await anArchive(t)

  for (const query of ['', ' ', 'bread', 'video:bread', 'comment:bread'])
    assert.equal((await ask(app, 'user', query)).status, 400, query)
  assert.deepEqual((await ask(app, 'user', 'full:zzzz')).body, { clips: [], is_more: false })
})

const FILE = '/api/said/file/'
/** Films with different codecs, one of them without sound. */
async function withFilms(t: TestContext): Promise<TestApp> {
  const app = await anArchive(t)
  const at = (channel: string, id: string) => join(app.app.settings['mediaDir'] as string, channel, `${id}.mp4`)
  const long = ['-vf', 'tpad=stop_duration=19:stop_mode=clone']
  await makeFilm(at('mill', 'v1'), [...long, '-af', 'apad=pad_dur=19', '-c:v', 'libx264', '-c:a', 'aac'])
  await makeFilm(at('lab', 'v2'), [...long, '-an', '-c:v', 'mpeg4'])
  return app
}

test('clips of films with other codecs are joined into one film that every browser plays', async (t) => {
  const app = await withFilms(t)

  const { status, body } = await app.as('user').post(FILE, { query: 'full:bread salt' })
  assert.equal(status, 200)
  assert.deepEqual([body.state, body.clips, body.seconds], ['making', 3, 26], 'one clip is after the end of its film')
  assert.equal(body.created, Math.floor(app.clock.now() / 1000))
  await app.app.jobs.ended(app.app.jobs.active('cut_said')!.id)

  const [made] = (await app.as('user').get(FILE)).body
  assert.deepEqual([made.id, made.state, made.reason], [body.id, 'there', ''])
  const path = app.app.saidFiles.pathOf(body.id)
  const { durationSeconds, streams } = await app.app.media.probe(path)
  assert.ok(durationSeconds > 14.5 && durationSeconds < 17.5, `${durationSeconds} s`)
  assert.deepEqual(streams.map(({ codec }) => codec).sort(), ['aac', 'h264'])
  const sent = await app.as('user').get(`${FILE}${body.id}/`)
  assert.equal(sent.status, 200)
  assert.match(sent.headers.get('content-disposition') ?? '', /attachment; filename="bread_salt\.mp4"/)
  assert.equal(Number(sent.headers.get('content-length')), made.bytes)
})

test('a file belongs to its account, and is sent only while the account sees all of its videos', async (t) => {
  const app = await withFilms(t)
  const { id } = (await app.as('user').post(FILE, { query: 'full:bread' })).body
  await app.app.jobs.ended(app.app.jobs.active('cut_said')!.id)

  assert.deepEqual((await app.as('admin').get(FILE)).body, [])
  for (const ask of [app.as('admin').get(`${FILE}${id}/`), app.as('admin').delete(`${FILE}${id}/`)])
    assert.equal((await ask).status, 404)
  await app.app.videos.remove('v2', { why: 'removed' })
  assert.equal((await app.as('user').get(`${FILE}${id}/`)).status, 404)
})

test('removing stops the work and deletes the file; after seven days it is deleted automatically', async (t) => {
  const app = await withFilms(t)
  const { id } = (await app.as('user').post(FILE, { query: 'full:bread' })).body
  const job = app.app.jobs.active('cut_said')!
  assert.equal((await app.as('user').delete(`${FILE}${id}/`)).status, 200)
  await app.app.jobs.ended(job.id)
  assert.deepEqual((await app.as('user').get(FILE)).body, [])
  assert.equal(existsSync(app.app.saidFiles.draftOf(id)), false)

  const { id: second } = (await app.as('user').post(FILE, { query: 'full:bread' })).body
  await app.app.jobs.ended(app.app.jobs.active('cut_said')!.id)
  await app.app.saidFiles.dropOlder(0)
  assert.equal((await app.as('user').get(FILE)).body.length, 1)
  await app.app.saidFiles.dropOlder(Date.now() + 1000)
  assert.equal(existsSync(app.app.saidFiles.pathOf(second)), false)
  assert.deepEqual((await app.as('user').get(FILE)).body, [])
})

/** A file that was not cut by a real job. */
async function withFile(t: TestContext): Promise<{ app: TestApp; id: string }> {
  const app = await anArchive(t)
  const { id } = (await app.as('user').post(FILE, { query: 'full:salt' })).body
  await app.app.jobs.ended(app.app.jobs.active('cut_said')!.id)
  await writeFile(app.app.saidFiles.beginDraft(id), 'film')
  await app.app.saidFiles.keep(id)
  return { app, id }
}

test('a file is listed and sent as long as it is kept, after its job was deleted, and after a restart', async (t) => {
  const { app, id } = await withFile(t)
  for (let hour = 0; hour < 26; hour++) await app.clock.advance(3_600_000)
  assert.deepEqual(app.app.jobs.list({ task: 'cut_said' }), [])

  for (const time of ['now', 'after a restart']) {
    const [made, ...more] = (await app.as('user').get(FILE)).body
    assert.deepEqual([made.id, made.state, made.clips, more], [id, 'there', 2, []], time)
    assert.equal((await app.as('user').get(`${FILE}${id}/`)).status, 200, time)
    if (time === 'now') await app.restart()
  }
  assert.equal((await app.as('user').delete(`${FILE}${id}/`)).status, 200)
  assert.equal(existsSync(app.app.saidFiles.pathOf(id)), false)
  assert.deepEqual((await app.as('user').get(FILE)).body, [])
})

test('a file is deleted with its account, and one without an account by the next start', async (t) => {
  const { app, id } = await withFile(t)
  assert.equal((await app.as('admin').delete('/api/user/2/')).status, 200)
  await app.settled()
  assert.equal(existsSync(app.app.saidFiles.pathOf(id)), false)

  await writeFile(app.app.saidFiles.pathOf(id), 'film')
  await app.restart()
  assert.equal(existsSync(app.app.saidFiles.pathOf(id)), false)
})

test('a file that is removed while it is made is not kept, and one whose job never began is not listed', async (t) => {
  const { app, id } = await withFile(t)
  await app.as('user').delete(`${FILE}${id}/`)
  await writeFile(app.app.saidFiles.beginDraft(id), 'film')
  await app.app.saidFiles.keep(id)
  assert.equal(existsSync(app.app.saidFiles.pathOf(id)), false)

  await app.app.saidFiles.add(2, 'full:bread', [{ id: 'v1', start: 0, end: 5 }])
  assert.deepEqual((await app.as('user').get(FILE)).body, [])
  for (let day = 0; day < 9; day++) await app.clock.advance(24 * 3_600_000)
  assert.deepEqual(app.app.ledger.sql('SELECT * FROM said_file').all(), [])
})

test('unreadable films fail with a sentence, and nothing is left', async (t) => {
  const app = await anArchive(t)
  const path = join(app.app.settings['mediaDir'] as string, 'mill', 'v1.mp4')
  await makeFilm(path)
  await writeFile(path, 'no film')

  const { id } = (await app.as('user').post(FILE, { query: 'full:salt' })).body
  await app.app.jobs.ended(app.app.jobs.active('cut_said')!.id)

  const [failed] = (await app.as('user').get(FILE)).body
  assert.equal(failed.state, 'failed')
  assert.notEqual(failed.reason, '')
  assert.equal(existsSync(app.app.saidFiles.draftOf(`${id}-clips`)), false)
  assert.equal((await app.as('user').post(FILE, { query: 'full:zzzz' })).status, 422)
})
