/** Bulk actions on selected videos, and the number of videos by month of publication: on both indexes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aChannel, aPlaylist, aVideo, testApp } from 'archivolt/testing'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

const LIBRARY = [
  aChannel({ id: 'UC1' }),
  aChannel({ id: 'UC2' }),
  ...['2024-05-31', '2024-05-01', '2024-04-30', '2019-01-01', '2019-01-02'].map((published, at) =>
    aVideo({
      id: `v${at}`,
      channelId: at === 4 ? 'UC2' : 'UC1',
      published,
      playlist: at === 0 || at === 3 ? ['PL1'] : [],
    }),
  ),
]

for (const { index, skip } of INDEXES)
  describe(`selected videos on ${index}`, { skip }, () => {
    test("months follow the filters, including the caller's watched videos and a playlist", async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope as never, { settings: await indexSettings(scope, index) })
      await app.given(
        ...LIBRARY,
        aPlaylist({ id: 'PL1', entries: ['v0', 'v3'].map((id) => ({ platform_id: id, downloaded: true })) }),
      )
      const months = async (query = '') => {
        const { body } = await app.as('admin').get(`/api/video/months/${query}`)
        return Object.fromEntries(body.map(({ month, count }: any) => [month, count]))
      }

      assert.deepEqual(Object.entries(await months()), [
        ['2024-05', 2],
        ['2024-04', 1],
        ['2019-01', 2],
      ])
      assert.deepEqual(await months('?channel=UC2'), { '2019-01': 1 })
      assert.deepEqual(await months('?before=2024-05-01&after=2019-01-02'), { '2024-04': 1, '2019-01': 1 })
      assert.deepEqual(await months('?playlist=PL1'), { '2024-05': 1, '2019-01': 1 })
      assert.deepEqual(await months('?channel=UC3'), {})

      assert.deepEqual(
        (await app.as('admin').post('/api/watched/bulk/', { ids: ['v0', 'v4'], is_watched: true })).body,
        {
          updated: 2,
        },
      )
      assert.deepEqual(await months('?watch=watched'), { '2024-05': 1, '2019-01': 1 })
      assert.deepEqual(await months('?watch=unwatched'), { '2024-05': 1, '2024-04': 1, '2019-01': 1 })
    })

    test('they are marked, listed and removed; missing ones are skipped', async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope as never, { settings: await indexSettings(scope, index) })
      await app.given(...LIBRARY)
      const admin = app.as('admin')
      const list = (await admin.post('/api/playlist/custom/', { playlist_name: 'Evening' })).body.playlist_id
      const entries = async () =>
        (await admin.get(`/api/playlist/${list}/`)).body.data.playlist_entries.map((one: any) => one.platform_id)
      const inList = (action: string, video_ids: string[]) =>
        admin.post(`/api/playlist/${list}/bulk/`, { action, video_ids })

      assert.deepEqual((await inList('create', ['v2', 'v0', 'gone', 'v1', 'v0'])).body, { updated: 3 })
      assert.deepEqual(await entries(), ['v2', 'v0', 'v1'])
      assert.deepEqual((await inList('remove', ['v0', 'v3'])).body, { updated: 1 })
      assert.deepEqual(await entries(), ['v2', 'v1'])

      const removed = await admin.post('/api/video/bulk/', { action: 'delete', ids: ['v0', 'v2', 'v2', 'gone'] })
      assert.deepEqual(removed.body, { updated: 2, removal: removed.body.removal })
      assert.match(removed.body.removal, /^[\w-]{36}$/)
      const { body } = await admin.get('/api/video/?sort=published')
      assert.deepEqual(
        body.data.map((video: any) => video.platform_id),
        ['v1', 'v4', 'v3'],
      )
      assert.deepEqual(await entries(), ['v1'])
    })
  })
