/** The contract of the index port, kept by each adapter. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { openSqliteIndex } from '../../core/index/sqlite/open.ts'
import { openLog } from '../../core/log.ts'
import { indexContract } from './index-suite.ts'

indexContract('SQLite', async (definitions) => {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-index-'))
  const open = () =>
    openSqliteIndex({
      file: join(folder, 'index.sqlite'),
      definitions,
      log: openLog('silent'),
      clock: systemClock,
      prefix: 'av',
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
