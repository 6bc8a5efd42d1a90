/** The contract of the index port, kept by each adapter. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { openLog } from '../../core/log.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { indexContract } from './index-suite.ts'

indexContract('SQLite', async (definitions) => {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-index-'))
  const open = () =>
    openSqliteIndex({
      file: join(folder, 'index.sqlite'),
      definitions,
      log: openLog('silent'),
      clock: systemClock,
    })
  let index = await open()
  return {
    index,
    async reopen() {
      await index.close()
      return (index = await open())
    },
    async dispose() {
      await index.close()
      await rm(folder, { recursive: true })
    },
  }
})
