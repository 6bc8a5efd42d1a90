/** Replacing the data with what a restore has prepared, without losing anything of it. */
import assert from 'node:assert/strict'
import fs from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { takeRestored } from '../../../core/ledger/restored-folder.ts'
import { openLog } from '../../../core/log.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('a replaced ledger keeps its write-ahead log, in whatever order a disk lists its files', async (t) => {
  const dataDir = await temporaryFolder(t)
  const names = ['ledger.sqlite', 'ledger.sqlite-shm', 'ledger.sqlite-wal']
  const offered = join(dataDir, 'restored-20260115T120000')
  await mkdir(offered)
  for (const name of names) {
    await writeFile(join(dataDir, name), 'present')
    await writeFile(join(offered, name), 'restored')
  }
  const readdirSync = fs.readdirSync as (path: string) => string[]
  t.mock.method(fs as { readdirSync: typeof readdirSync }, 'readdirSync', (path: string) =>
    readdirSync(path).sort().reverse(),
  )
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })

  takeRestored(dataDir, openLog('silent'))

  const contentsIn = (folder: string) => Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  assert.deepEqual(await contentsIn(join(dataDir, 'before-restore-20260115T120000')), ['present', 'present', 'present'])
  assert.deepEqual(await contentsIn(dataDir), ['restored', 'restored', 'restored'])
})
