/**
 * The main job as a user does it: sign in, paste, wait, find, play, mark, delete. With the real server on each index, a
 * real yt-dlp and ffmpeg, and the loopback platform.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { CHANNEL, GONE, PLAYLIST, VIDEO } from '../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { INDEXES, indexEnv } from '../support/indexes.ts'
import { lastFirst } from '../support/last-first.ts'
import { WITH_TEXTS } from '../support/preferences.ts'
import { allQuiet, type Server, startServer, taskEnded, until } from '../support/server.ts'

const run = promisify(execFile)

for (const { index, skip } of INDEXES) {
  describe(`the main job on ${index}`, { skip }, () => {
    let server: Server
    let platform: TestPlatform
    let folder: string
    const scope = lastFirst({ after })

    before(async () => {
      folder = await temporaryFolder(scope)
      platform = await startTestPlatform(scope)
      platform.platform.faults.set('global', 'challenge')
      server = await startServer(scope, folder, { ...platform.env, ...(await indexEnv(scope, index)) })
      const changed = await server.api('POST', '/api/config/', { downloads: WITH_TEXTS })
      assert.equal(changed.status, 200)
    })

    test('a token and a session both give access', async () => {
      const ping = await server.api('GET', '/api/ping/')
      assert.equal(ping.status, 200)
      assert.equal(ping.body.response, 'pong')
      assert.match(ping.body.version, /^v1\.\d+\.\d+$/)

      const nobody = await fetch(`${server.baseUrl}/api/ping/`)
      assert.equal(nobody.status, 401)
    })

    test('a video id, a watch URL, a shorts URL and a playlist URL in one text are all downloaded', async () => {
      const { baseUrl } = platform.platform
      const text = `${VIDEO.breakwater} ${baseUrl}/watch?v=${VIDEO.lighthouse}\n${baseUrl}/shorts/${VIDEO.gull}  ${baseUrl}/playlist?list=${PLAYLIST.joinery}`
      const asked = await server.api('POST', '/api/download/?autostart=true', {
        data: [{ youtube_id: text, status: 'pending' }],
      })
      assert.equal(asked.status, 200)
      assert.equal((await taskEnded(server, asked.body.task_id)).status, 'SUCCESS')
      await allQuiet(server)

      const queue = await server.api('GET', '/api/download/')
      assert.deepEqual(
        queue.body.data.map((item: { platform_id: string }) => item.platform_id),
        [],
        'nothing is left in the queue',
      )
      const list = await server.api('GET', '/api/video/?sort=downloaded')
      const expected = ['breakwater', 'lighthouse', 'gull', 'dovetail', 'stool', 'plane'].map((key) => VIDEO[key])
      assert.deepEqual(
        list.body.data.map((video: { platform_id: string }) => video.platform_id).toSorted(),
        expected.toSorted(),
      )
      assert.ok(!expected.includes(GONE.private))
      const solves = platform.platform.requests.filter(({ path }) => path.startsWith('/s/player/'))
      assert.equal(solves.length, expected.length, 'each new video costs one solve')
    })

    test('the video has separate streams merged to mp4, a thumbnail, subtitles and comments', async () => {
      const { body } = await server.api('GET', `/api/video/${VIDEO.breakwater}/`)
      const video = body.data
      assert.equal(video.youtube_id, VIDEO.breakwater)
      assert.equal(video.title, 'Rebuilding the breakwater, stone by stone')
      assert.equal(video.channel.channel_id, CHANNEL.harbour)
      assert.equal(video.vid_type, 'videos')
      assert.deepEqual(video.streams.map(({ type }: { type: string }) => type).toSorted(), ['audio', 'video'])
      assert.equal(video.player.duration, 12)
      assert.equal(video.player.duration_str, '12s')
      assert.equal(video.subtitles.length, 2)

      const path = join(folder, 'media', CHANNEL.harbour, `${VIDEO.breakwater}.mp4`)
      const { stdout } = await run('ffprobe', [
        '-v',
        'error',
        '-show_entries',
        'format=duration,size',
        '-of',
        'json',
        path,
      ])
      const probed = JSON.parse(stdout).format
      assert.equal(Number(probed.size), video.media_size)
      assert.ok(Math.abs(Number(probed.duration) - 12) < 0.5)

      const whole = await server.api('GET', video.media_url)
      assert.equal(whole.bytes.length, video.media_size)
      const part = await server.api('GET', video.media_url, undefined, { Range: 'bytes=100-199' })
      assert.equal(part.status, 206)
      assert.deepEqual(part.bytes, whole.bytes.subarray(100, 200))

      const english = video.subtitles.find(({ lang }: { lang: string }) => lang === 'en')
      const vtt = await server.api('GET', english.media_url)
      assert.match(vtt.headers.get('content-type') ?? '', /^text\/vtt/)
      assert.match(vtt.bytes.toString(), /^WEBVTT[\s\S]*Good morning from the pier/)

      const thumbnail = await server.api('GET', video.vid_thumb_url)
      assert.equal(thumbnail.headers.get('content-type'), 'image/jpeg')
      assert.deepEqual([...thumbnail.bytes.subarray(0, 3)], [0xff, 0xd8, 0xff])
      const small = await server.api('GET', `${video.vid_thumb_url}?size=small`)
      assert.ok(small.bytes.length < thumbnail.bytes.length)

      const comments = await server.api('GET', `/api/video/${VIDEO.breakwater}/comment/`)
      assert.equal(comments.body.data.length, 45)
      assert.ok(
        comments.body.data.some(({ comment_replies }: { comment_replies: unknown[] }) => comment_replies.length > 0),
      )
    })

    test('it is found by words of its title, by its channel and by its subtitles', async () => {
      const ids = async (query: string, group: string) =>
        (await server.api('GET', `/api/search/?query=${encodeURIComponent(query)}`)).body.results[group].map(
          (hit: { platform_id: string; channel_id: string }) => hit.platform_id ?? hit.channel_id,
        )

      assert.equal((await ids('breakwat', 'video_results'))[0], VIDEO.breakwater, 'nearest first, fuzzy ones after it')
      assert.deepEqual(await ids('breakwat fuzzy:no', 'video_results'), [VIDEO.breakwater])
      assert.deepEqual(await ids('harbour', 'channel_results'), [CHANNEL.harbour])
      assert.ok((await ids('video: channel:harbour', 'video_results')).includes(VIDEO.gull))
      const said = (await server.api('GET', '/api/search/?query=full:tide%20lang:en')).body.results.fulltext_results
      assert.deepEqual(
        said.map((hit: { platform_id: string }) => hit.platform_id).toSorted(),
        [VIDEO.breakwater, VIDEO.lighthouse].toSorted(),
      )
      assert.match(said[0].subtitle_line, /<span class="settings-current">tide<\/span>/i)
    })

    test('every user has separate positions and marks', async () => {
      const made = await server.api('POST', '/api/user/', { username: 'guest', password: 'guest-password' })
      assert.equal(made.status, 200)
      const login = await fetch(`${server.baseUrl}/api/login/`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ username: 'guest', password: 'guest-password' }),
      })
      const guest = { Authorization: `Token ${((await login.json()) as { token: string }).token}` }

      await server.api('POST', `/api/video/${VIDEO.stool}/progress/`, { position: 3 })
      assert.equal((await server.api('GET', `/api/video/${VIDEO.stool}/`)).body.data.player.position, 3)
      assert.equal((await server.api('GET', `/api/video/${VIDEO.stool}/`)).body.data.player.progress, 25)
      assert.equal(
        (await server.api('GET', `/api/video/${VIDEO.stool}/`, undefined, guest)).body.data.player.position,
        undefined,
      )
      assert.deepEqual(
        (await server.api('GET', '/api/video/?watch=continue')).body.data.map(
          ({ platform_id }: { platform_id: string }) => platform_id,
        ),
        [VIDEO.stool],
      )

      await server.api('POST', '/api/watched/', { id: VIDEO.stool, is_watched: true }, guest)
      const isWatched = async (headers?: Record<string, string>) =>
        (await server.api('GET', `/api/video/${VIDEO.stool}/`, undefined, headers)).body.data.player.watched
      assert.deepEqual([await isWatched(guest), await isWatched()], [true, false])
      assert.equal((await server.api('DELETE', '/api/download/?filter=pending', undefined, guest)).status, 403)
    })

    test('a handle queues its channel, and a running task can be stopped', async () => {
      const asked = await server.api('POST', '/api/download/', { data: [{ youtube_id: '@OrbitNotes' }] })
      assert.equal(asked.status, 200)
      assert.equal((await taskEnded(server, asked.body.task_id)).status, 'SUCCESS')
      const queue = await server.api('GET', '/api/download/?filter=pending')
      assert.equal(queue.body.paginate.total_hits, 5)
      assert.equal(queue.body.data[0].channel_name, 'Orbit Notes')

      platform.platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 20_000 })
      const { body } = await server.api('POST', '/api/task-name/download_pending/')
      await until(
        'the download runs',
        () => server.api('GET', '/api/notification/?filter=download'),
        ({ body }) =>
          body.some(
            (message: { id: string; messages: string[] }) =>
              message.id === body[0].id && message.messages[0]?.startsWith('Downloading '),
          ),
      )
      assert.equal((await server.api('POST', `/api/task-id/${body.task_id}/`, { command: 'kill' })).status, 200)
      assert.equal((await taskEnded(server, body.task_id)).status, 'REVOKED')
      platform.platform.faults.clear()
      assert.equal((await server.api('GET', '/api/download/?filter=pending')).body.paginate.total_hits, 5)
    })

    test('deleting a video removes its files, its documents and its subtitles', async () => {
      const path = join(folder, 'media', CHANNEL.harbour, `${VIDEO.lighthouse}.mp4`)
      assert.ok(existsSync(path))
      const gone = await server.api('DELETE', `/api/video/${VIDEO.lighthouse}/`)
      const { removal, ...told } = gone.body
      assert.deepEqual([told, typeof removal], [{ video: VIDEO.lighthouse, state: 'delete' }, 'string'])
      assert.ok(!existsSync(path))
      assert.equal((await server.api('GET', `/api/video/${VIDEO.lighthouse}/`)).status, 404)
      const said = (await server.api('GET', '/api/search/?query=full:tide%20lang:en')).body.results.fulltext_results
      assert.deepEqual(
        said.map((hit: { platform_id: string }) => hit.platform_id),
        [VIDEO.breakwater],
      )
    })

    test('it stops cleanly', async () => {
      assert.equal(await server.end('SIGTERM'), 0)
    })
  })
}
