/** PlexAPI, the usual client library for Plex, understands the metadata provider. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aVideo, testApp } from 'archivolt/testing'
import { installReaders, read } from '../../support/readers.ts'
import { missingHere } from '../../support/required.ts'

test('PlexAPI reads shows, seasons and episodes', async (t) => {
  const reason = await installReaders()
  if (reason) return t.skip(missingHere('readers', reason))
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'Old Mill' }),
    aVideo({
      id: 'v1',
      title: 'Grain & <bread>',
      published: '2025-12-31',
      player: { duration: 61 },
    }),
    aVideo({ id: 'v2', title: 'Flour', published: '2026-01-03' }),
    aVideo({ id: 'v3', title: 'Loaf', published: '2026-01-04' }),
  )
  const { rows } = app.app.faces
  await app.app.ledger.write(() => {
    rows.giveNumber('UC1', 2025, 'v1')
    rows.giveNumber('UC1', 2026, 'v2')
    rows.giveNumber('UC1', 2026, 'v3')
  })
  const { url } = (await app.as('user').post('/api/plex/', {})).body

  const { code, output } = await read('plex.py', [url, 'show-UC1'])

  assert.equal(code, 0, output)
  const [show, ...others] = JSON.parse(output)
  assert.deepEqual(show, {
    ...{ type: 'show', key: '/library/metadata/show-UC1', title: 'Old Mill', day: '2025-12-31' },
    ...{ guid: 'tv.plex.agents.custom.archivolt://show/show-UC1' },
    ...{ index: null, duration: null, parent: null, grandparent: null },
  })
  assert.deepEqual(
    others.map(({ type, title, index, parent, grandparent }: any) => [type, title, index, parent, grandparent]),
    [
      ['season', '2025', 2025, 'Old Mill', null],
      ['season', '2026', 2026, 'Old Mill', null],
      ['episode', 'Grain & <bread>', 1, '2025', 'Old Mill'],
      ['episode', 'Flour', 1, '2026', 'Old Mill'],
      ['episode', 'Loaf', 2, '2026', 'Old Mill'],
    ],
  )
  assert.deepEqual([others[2].day, others[2].duration], ['2025-12-31', 61_000])
})
