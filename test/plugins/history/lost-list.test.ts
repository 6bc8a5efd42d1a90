/** The list of videos that exist only here, on both indexes: filter, sort by the date of loss, and views. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'
import { aChannel, aVideo, PASSWORD, testApp } from '../../support/testing.ts'

for (const { index, skip } of INDEXES)
  describe(`lost videos on ${index}`, { skip }, () => {
    test('are filtered by kind, sorted by the day of loss, and counted within the view of an account', async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, index) })
      const lost = (date: number, kind: 'removed' | 'private') => ({ active: false, lost: { date, kind } })
      await app.given(
        ...['UC1', 'UC2'].map((id) => aChannel({ id })),
        aVideo({ id: 'v1', ...lost(100, 'removed') }),
        aVideo({ id: 'v2', channelId: 'UC2', ...lost(300, 'private') }),
        aVideo({ id: 'v3', ...lost(200, 'private') }),
        aVideo({ id: 'v4', active: false }),
      )
      await app.as('admin').post('/api/user/', { username: 'child', password: PASSWORD })
      await app.as('admin').post('/api/user/3/', { view: { channel: ['UC1'] } })
      const ids = async (who: string, query: string) =>
        (await app.as(who).get(`/api/video/?${query}`)).body.data.map(
          ({ platform_id: id }: { platform_id: string }) => id,
        )

      assert.deepEqual(await ids('user', 'lost=any&sort=lost'), ['v2', 'v3', 'v1'])
      assert.deepEqual(await ids('user', 'lost=any&sort=lost&order=asc'), ['v1', 'v3', 'v2'])
      assert.deepEqual(await ids('user', 'lost=private&sort=lost'), ['v2', 'v3'])
      assert.deepEqual(await ids('child', 'lost=any&sort=lost'), ['v3', 'v1'])
      assert.equal((await app.as('user').get('/api/video/?lost=gone')).status, 400)
    })
  })
