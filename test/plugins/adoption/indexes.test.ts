/** Imports in place on either index: films with the metadata of a catalog and the accounts' activity, and an undo. */
import assert from 'node:assert/strict'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { makeFilm } from '../../support/ffmpeg.ts'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { placesApp, withPlaces } from '../../support/places.ts'
import { infoOf, layFilm } from '../../support/ytdlp-folder.ts'

const IDS = ['aaaaaaaaaaa', 'bbbbbbbbbbb', 'ccccccccccc']
const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
const row = (id: string, file: string, more = ''): string =>
  `(${IDS.indexOf(id) + 1},'${id}','O\\'Neill; (a) film','${CHANNEL}','Harbour','20230715',60,'/usr/src/app/data/${file}',${more || 0})`
const DUMP = `CREATE TABLE \`Videos\` (
  \`id\` int(11),
  \`youtubeId\` varchar(20),
  \`youTubeVideoName\` text,
  \`channel_id\` text,
  \`youTubeChannelName\` text,
  \`originalDate\` text,
  \`duration\` int(11),
  \`filePath\` text,
  \`protected\` tinyint(1)
) ENGINE=InnoDB;
INSERT INTO \`Videos\` VALUES ${row('aaaaaaaaaaa', 'One.mp4', '1')},${row('bbbbbbbbbbb', 'Two.mp4')},${row('ccccccccccc', 'Three.mp4')};
CREATE TABLE \`channelvideos\` (
  \`youtube_id\` text,
  \`ignored\` tinyint(1)
);
INSERT INTO \`channelvideos\` VALUES ('ddddddddddd',1),('eeeeeeeeeee',0);
CREATE TABLE \`video_watch_status\` (
  \`video_id\` int(11),
  \`server_type\` text,
  \`server_user_id\` text,
  \`played\` tinyint(1),
  \`position_ms\` bigint(20),
  \`last_watched_at\` datetime
);
INSERT INTO \`video_watch_status\` VALUES (1,'jellyfin','u1',1,NULL,'2024-05-29 12:00:00'),(2,'plex','7',0,12500,NULL);
`

for (const { index, skip } of INDEXES)
  describe(`importing on ${index}`, { skip }, () => {
    test('adds films, marks, positions, kept and ignored videos, and undoes all of it', async (t) => {
      const scope = lastFirst(t)
      const root = await mkdtemp(join(tmpdir(), 'av-root-'))
      scope.after(() => rm(root, { recursive: true, force: true }))
      const settings = { ...(await indexSettings(scope, index)), libraryRoots: [root] }
      const app = withPlaces(await testApp(scope, { settings }), root)
      const admin = app.as('admin')
      for (const name of ['One', 'Two']) await layFilm(app, `youtarr/data/${name}.mp4`)
      await layFilm(app, 'youtarr/data/Three.mp4', infoOf('ccccccccccc', { title: 'As the file says' }))
      await app.lay('youtarr/youtarr.sql', DUMP)
      const done = async ({ body }: Awaited<ReturnType<typeof admin.post>>) => {
        const { state, result } = await app.app.jobs.ended(body.task_id)
        assert.equal(state, 'SUCCESS', result ?? '')
        const completing = app.app.jobs.active('complete_videos')
        if (completing) await app.app.jobs.ended(completing.id)
        return (await admin.get(`/api/adoption/${body.id}/`)).body
      }

      const plan = await done(await admin.post('/api/adoption/', { place: await app.place('youtarr/data') }))

      assert.deepEqual([plan.source, plan.outcomes.new.count, plan.problems], ['youtarr', 3, {}])
      assert.deepEqual(plan.along, [
        { kind: 'ignore', owner: '', count: 1 },
        { kind: 'keep', owner: '', count: 1 },
        { kind: 'position', owner: 'plex:7', count: 1 },
        { kind: 'watched', owner: 'jellyfin:u1', count: 1 },
      ])
      const way = `/api/adoption/${plan.id}/`
      const nobody = { kinds: ['watched'], users: { 'plex:7': 'nobody here' } }
      assert.equal((await admin.post(way, { command: 'adopt', along: nobody })).status, 422)

      const users = { 'jellyfin:u1': 'admin', 'plex:7': 'user' }
      const along = { kinds: ['watched', 'position', 'keep', 'ignore'], users }
      await done(await admin.post(way, { command: 'adopt', along }))

      assert.deepEqual(await app.ids('video'), IDS)
      const { data } = (await admin.get('/api/video/aaaaaaaaaaa/')).body
      assert.deepEqual(
        [data.title, data.published, data.streams.length, data.keep, data.player.watched, data.player.watched_date],
        ["O'Neill; (a) film", '2023-07-15', 2, true, true, Date.UTC(2024, 4, 29, 12) / 1000],
      )
      const ids = async (who: string, watch: string): Promise<string[]> =>
        (await app.as(who).get(`/api/video/?watch=${watch}`)).body.data
          .map(({ platform_id: id }: { platform_id: string }) => id)
          .sort()
      assert.deepEqual(await ids('admin', 'watched'), ['aaaaaaaaaaa'])
      assert.deepEqual(await ids('user', 'continue'), ['bbbbbbbbbbb'])
      assert.equal((await app.as('user').get('/api/video/bbbbbbbbbbb/progress/')).body.position, 12.5)
      assert.deepEqual(await app.ids('download'), ['ddddddddddd'])

      await done(await admin.post(way, { command: 'undo' }))

      for (const name of ['video', 'channel', 'download']) assert.deepEqual(await app.ids(name), [], name)
    })

    test('a file added to a followed location is imported, found again under another name, and has a playable copy', async (t) => {
      const scope = lastFirst(t)
      const app = await placesApp(scope, { settings: await indexSettings(scope, index) })
      const [admin, user] = [app.as('admin'), app.as('user')]
      const place = await app.place('old')
      await admin.post(`/api/place/${place}/`, { follow: true })
      const look = async () => {
        const { id } = await app.app.jobs.start('follow_places')
        assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
        await app.settled()
      }
      await makeFilm(join(app.root, 'old', 'One.mkv'), ['-c:v', 'libvpx-vp9', '-cpu-used', '8', '-c:a', 'libopus'])
      await app.lay('old/One.info.json', JSON.stringify(infoOf('aaaaaaaaaaa')))

      await look()
      for (const ending of ['mkv', 'info.json'])
        await rename(join(app.root, 'old', `One.${ending}`), join(app.root, 'old', `Another.${ending}`))
      await look()

      const of = async () => (await user.get('/api/video/aaaaaaaaaaa/')).body
      const { media_url: url } = (await of()).data
      assert.deepEqual([await app.ids('video'), (await user.get(url)).status], [['aaaaaaaaaaa'], 200])
      await user.post('/api/video/aaaaaaaaaaa/copy/', {})
      await app.settled()
      const { copy_url: copy } = (await of()).data
      assert.equal((await user.get(copy)).headers.get('content-type'), 'video/mp4')
      assert.equal((await admin.delete('/api/video/aaaaaaaaaaa/')).status, 200)
      assert.equal((await user.get(copy)).status, 404)
    })
  })
