/** Lists of documents with and without a value, after an interrupted cleanup. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { definitionData } from '../../../plugins/index-kit/document.ts'
import { create } from '../../../plugins/sqlite/build.ts'
import { connect } from '../../../plugins/sqlite/connection.ts'
import { openStore, type Tables, tablesOf } from '../../../plugins/sqlite/store.ts'
import { listedPage } from '../../../plugins/sqlite/value-lists.ts'
import { letterIndex } from '../../contracts/index-suite.ts'
import { temporaryFolder } from '../../support/folder.ts'

const COUNT = 500

test('a value that returns after its list was deleted partly gets a complete list', async (t) => {
  const connection = connect(join(await temporaryFolder(t), 'index.sqlite'), { isReader: false })
  t.after(() => connection.close())
  const started = () => openStore(connection, [definitionData(letterIndex)], (callback) => callback())
  const letters = (): Tables => tablesOf(started(), 'letter')
  create(started(), 'letter')
  const first = letters()
  for (let at = 0; at < COUNT; at++) first.writer.put(`l${at}`, { sentAt: at })
  first.writer.put('l7', { sentAt: 7, readers: ['ann'] })
  first.writer.put('l7', { sentAt: 7 })
  letters().writer.sweep().next() // the process ends after a few rows

  const { writer, layout, names } = letters()
  writer.put('l3', { sentAt: 3, readers: ['ann'] })

  const { text, values } = listedPage(connection, layout, names, {
    filter: { not: { eq: ['readers', 'ann'] } },
    sort: [{ by: 'sentAt', order: 'desc' }],
  })!
  assert.ok(text.includes(names.lists), 'a list serves it')
  assert.equal(connection.sql(text).all(...values, COUNT, 0).length, COUNT - 1)
})
