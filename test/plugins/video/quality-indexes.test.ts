/** Receipts on either index: lists, figures, replacements, and due retries. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aDegraded, aDownloadReceipt, aReceipt, aVideo, testApp } from 'archivolt/testing'
import { INDEXES, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

for (const { index, skip } of INDEXES) {
  describe(`receipts on ${index}`, { skip }, () => {
    test('are listed, counted, replaced and made due', async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, index) })
      const worse = aReceipt('degraded', { offered: 1080, got: 360 })
      const hdr = { ...worse, offered: { ...worse.offered, hdr: 'HDR10' } }
      await app.given(
        aVideo({ id: 'best', receipt: aReceipt() }),
        aVideo({ id: 'limited', receipt: aReceipt('limited', { offered: 2160, got: 1080 }) }),
        aVideo({ id: 'token', receipt: hdr, degraded: aDegraded({ reasons: ['token', 'language'] }) }),
        aVideo({
          id: 'stays',
          receipt: worse,
          degraded: { ...aDegraded({ reasons: ['token'] }), next_try: undefined } as never,
        }),
        aVideo({ id: 'imported' }),
      )
      const listed = async (query: string): Promise<string[]> =>
        (await app.as('user').get(`/api/video/?${query}`)).body.data
          .map(({ platform_id }: { platform_id: string }) => platform_id)
          .toSorted()

      assert.deepEqual(
        await Promise.all(['best', 'limited', 'degraded', 'unknown'].map((one) => listed(`quality=${one}`))),
        [['best'], ['limited'], ['stays', 'token'], ['imported']],
      )
      assert.deepEqual(
        [await listed('degraded=token'), await listed('degraded=language')],
        [['stays', 'token'], ['token']],
      )
      const { best, limited, degraded, unknown, reasons } = (await app.as('user').get('/api/stats/quality/')).body
      assert.deepEqual(
        [best, limited, degraded, unknown].map(({ doc_count }) => doc_count),
        [1, 1, 2, 1],
      )
      assert.deepEqual(reasons, [
        { reason: 'token', doc_count: 2 },
        { reason: 'language', doc_count: 1 },
      ])

      await app.app.platform.command('pause')
      await app.app.degraded.fetchSoon()
      const now = Math.floor(app.clock.now() / 1000)
      assert.deepEqual(
        [
          (await app.doc('video', 'token')).degraded.next_try <= now,
          (await app.doc('video', 'stays')).degraded.next_try,
        ],
        [true, undefined],
      )

      await app.app.videos.renewReceipt('token', aDownloadReceipt(), undefined)
      const renewed = (await app.as('user').get('/api/video/token/')).body.data
      assert.deepEqual(
        [renewed.degraded, renewed.receipt.quality, renewed.receipt.offered.hdr, renewed.receipt.got.height],
        [undefined, 'best', undefined, 360],
      )
      assert.deepEqual(await listed('quality=degraded'), ['stays'])
    })
  })
}
