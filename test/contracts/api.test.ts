/**
 * Tests every row of the contract's endpoint tables: the request, the status, and the form of the answer as the API
 * describes it.
 */
import { describe, test } from 'node:test'
import { INDEXES, indexSettings } from '../support/indexes.ts'
import { lastFirst } from '../support/last-first.ts'
import { archive } from './api/archive.ts'
import { channels, nothing, pages, playlists, statistics, videos } from './api/library.ts'
import { beyond, operating, queue, schedules, service } from './api/operate.ts'
import { askRow, check, describedAnswers, type Table, titleOf } from './api/row.ts'

const TABLES: Record<string, Table> = {
  service,
  pages,
  videos,
  playlists,
  channels,
  statistics,
  queue,
  operating,
  schedules,
  beyond,
  nothing,
}

for (const { index, skip } of INDEXES) {
  describe(`on ${index}`, { skip }, () => {
    for (const [name, table] of Object.entries(TABLES)) {
      test(name, async (t) => {
        const scope = lastFirst(t)
        // Answers name the prefix; no other file uses this one.
        const app = await archive(scope, name === 'nothing', await indexSettings(scope, index, 'av'))
        const described = await describedAnswers(app)
        for (const row of table) await t.test(titleOf(row), async () => check(row, await askRow(row, app), described))
      })
    }
  })
}
