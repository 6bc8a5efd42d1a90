/** Searches find videos by their former titles, on both indexes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { aVideo, testApp } from '../../support/testing.ts'

for (const { index, skip } of INDEXES)
  describe(`former titles on ${index}`, { skip }, () => {
    test('the general search and the search of videos find a former title', async (t) => {
      const app = await testApp(t, { settings: await indexSettings(t, index) })
      await app.given(
        aVideo({ id: 'v1', title: 'Something else', former_titles: ['The quokka film'] }),
        aVideo({ id: 'v2' }),
      )

      for (const query of ['quokka', 'video:quokka']) {
        const { body } = await app.as('user').get(`/api/search/?query=${query}`)
        assert.deepEqual(
          body.results.video_results.map(({ platform_id: id }: { platform_id: string }) => id),
          ['v1'],
          query,
        )
      }
    })
  })
