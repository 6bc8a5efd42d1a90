/** SQLite's native code is known where it would end the process. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { faultOfBinding, loadedBinding } from '../../core/binding.ts'
import { temporaryFolder } from '../support/folder.ts'

test('the binding that is loaded is found, and goes with this Node', async () => {
  new Database(':memory:').close()

  assert.match(loadedBinding() ?? '', /better-sqlite3.*better_sqlite3\.node$/)
  assert.equal(await faultOfBinding(), undefined)
})

test('one that was compiled with headers of Node 24.19 is told there, with the way out', async (t) => {
  const file = join(await temporaryFolder(t), 'better_sqlite3.node')
  await writeFile(file, '\0_ZN4node28RemoveEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_\0')
  const older = join(await temporaryFolder(t), 'better_sqlite3.node')
  await writeFile(older, '\0_ZN4node25AddEnvironmentCleanupHookEPN2v87IsolateEPFvPvES3_\0')

  assert.match((await faultOfBinding(file, '24.21.0')) ?? '', /Node 24\.19 or newer.*Node 22.*or take a release/)
  assert.equal(await faultOfBinding(file, '22.23.3'), undefined)
  assert.equal(await faultOfBinding(older, '24.21.0'), undefined)
})
