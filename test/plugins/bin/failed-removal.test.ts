/** A removal that fails and cannot be undone at once, because the disk is full or gone, loses nothing. */
import assert from 'node:assert/strict'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { definePlugin } from 'archivolt'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { handAt } from '../../support/other-work.ts'
import { NO_PROGRAMS } from '../../support/refused.ts'

const HOUR_MS = 3_600_000

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Two videos with films, one of them watched. */
async function fill(app: TestApp): Promise<void> {
  const { media } = app.app
  await app.given(aChannel({ id: 'UC1' }), ...['v1', 'v2'].map((id) => aVideo({ id, channelId: 'UC1' })))
  for (const id of ['v1', 'v2']) await put(media.pathOf('UC1', id), `the film ${id}`)
  await app.as('user').post('/api/watched/', { id: 'v1', is_watched: true })
  await app.settled()
}

async function stateOf(app: TestApp) {
  const { body } = await app.as('user').get('/api/video/v1/')
  const files = await readdir(dirname(app.app.media.pathOf('UC1', 'v1')))
  const films = files.filter((name) => name.endsWith('.mp4')).sort()
  return { ids: await app.ids('video'), isWatched: body.player?.watched, films }
}

const ways = {
  'within the hour': (app: TestApp) => app.clock.advance(HOUR_MS),
  'at the next start': async (app: TestApp) => {
    await app.restart()
    await app.clock.advance(1)
  },
}
for (const [when, wait] of Object.entries(ways)) {
  test(`what a removal has taken that could not be undone is back ${when}`, async (t) => {
    let isBroken = false
    let own = 'its own data'
    const keep = async (data: string) => {
      own = data
      if (isBroken) throw new Error('the disk is full')
    }
    const plugin = definePlugin({
      name: 'stubborn',
      api: 1,
      needs: ['video', 'watch'],
      implements: {
        'video.remove': (app) => app.videos.removal(() => keep('')),
        'video.belongings': () => ({
          of: 'stubborn',
          collect: async () => new Map([['v1', own]]),
          restore: (kept) => keep(isBroken ? '' : String(kept.get('v1'))),
        }),
      },
    })
    const app = await testApp(t, { replace: [plugin], settings: NO_PROGRAMS })
    await fill(app)
    const before = await stateOf(app)
    assert.deepEqual([before.isWatched, before.films], [true, ['v1.mp4', 'v2.mp4']])
    isBroken = true
    assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 500)
    isBroken = false

    await wait(app)
    await app.restart() // which waits for the bin

    assert.deepEqual([await stateOf(app), own], [before, 'its own data'])
    assert.equal((await app.as('admin').get('/api/bin/')).body.paginate.total_hits, 0)
  })

  for (const [at, isInBin] of [
    ['video.trash', false],
    ['video.drop', true],
  ] as const)
    test(`a video whose removal lost the disk after ${at} is ${isInBin ? 'in the bin' : 'back'} ${when}`, async (t) => {
      let isGoing = true
      const disk = () => app.app.settings.mediaDir
      const plugin = handAt(at, 'after', async () => {
        if (isGoing) await rename(disk(), `${disk()}-away`)
      })
      const app: TestApp = await testApp(t, { outside: [plugin], settings: NO_PROGRAMS })
      await fill(app)
      const before = await stateOf(app)
      assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 503)
      isGoing = false
      await rename(`${disk()}-away`, disk())

      await wait(app)
      await app.restart() // which waits for the bin

      const { body } = await app.as('admin').get('/api/bin/')
      assert.deepEqual(
        body.data.map((entry: { platform_id: string; title: string }) => [entry.platform_id, entry.title]),
        isInBin ? [['v1', 'Video v1']] : [],
      )
      if (isInBin) {
        const { removal } = body.data[0]
        assert.equal((await app.as('admin').post('/api/bin/restore/', { removal })).body.restored, 1)
        await app.settled()
      }
      assert.deepEqual(await stateOf(app), before)
      assert.deepEqual(
        app.app.media.binned.left(() => false),
        [],
      )
    })
}
