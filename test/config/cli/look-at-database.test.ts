/** The report of `archivolt check` on an SQLite file. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { lookAtDatabase } from '../../../config/cli/look-at-database.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('only a damaged file should be replaced, not one that cannot be opened', async (t) => {
  const folder = await temporaryFolder(t)
  const [whole, damaged, closed] = ['whole', 'damaged', 'gone/closed'].map((name) => join(folder, name))
  new Database(whole!).exec('CREATE TABLE one (id)').close()
  await writeFile(damaged!, 'no database at all'.repeat(1000))

  const said = [whole!, damaged!, closed!].map((file) => lookAtDatabase(file, 'Ledger', 'replace it').said)

  assert.equal(said[0], 'no damage found')
  assert.match(said[1]!, /; replace it$/)
  assert.match(said[2]!, /; it could not be checked: make sure that its disk has free space and can be written/)
})
