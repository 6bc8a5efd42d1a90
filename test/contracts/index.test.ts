/** The contract of the index port, for each adapter that needs no server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../config/schema.ts'
import '../support/slow.ts'
import { systemClock } from '../../core/base/clock.ts'
import { openHoldings } from '../../core/index/in-use.ts'
import { openLog } from '../../core/log.ts'
import sqlite from '../../plugins/sqlite/plugin.ts'
import memory from '../data/plugins/memory/plugin.ts'
import { garble } from '../support/garble.ts'
import { indexContract } from './index-suite.ts'

for (const { name, indexAdapter } of [sqlite, memory]) {
  indexContract(name, async (definitions) => {
    const dataDir = await mkdtemp(join(tmpdir(), 'archivolt-index-'))
    const given = { log: openLog('silent'), clock: systemClock }
    return {
      async open(onGarbled, declared = definitions) {
        const holdings = await openHoldings({ dataDir, kind: name, ...given })
        const settings = { dataDir, prefix: 'av' } as Settings
        return (
          await indexAdapter!.open({ ...given, settings, definitions: declared, version: '1', holdings, onGarbled })
        ).index
      },
      ...(name === 'sqlite' && { garble: async (collection, id) => garble({ dataDir }, collection, id) }),
      remove: () => rm(dataDir, { recursive: true }),
    }
  })
}
