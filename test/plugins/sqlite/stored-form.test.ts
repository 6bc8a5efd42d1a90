/**
 * Documents of texts and whole numbers are stored in columns, whatever stored them before, and read as they were
 * written.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { Type } from 'typebox'
import { isAppError } from '../../../core/base/error.ts'
import { defineIndex } from '../../../core/index/mapping.ts'
import { checkIndexFile } from '../../../plugins/sqlite/check-index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { allOf, filled, openLines } from './filled-lines.ts'
import { asTexts, lineIndex, lineOf, storedIn } from './lines.ts'

const MANY = 5000

/** Size of the tables with documents, in bytes. */
function sizeIn(folder: string): number {
  const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
  const sum = `SELECT sum(pgsize) FROM dbstat WHERE name IN ('line_v1_doc', 'line_v1_flat')`
  try {
    return db.prepare<unknown[], number>(sum).pluck().get()!
  } finally {
    db.close()
  }
}

/** Resolves when all documents of an earlier version have been moved into columns. */
async function packed(folder: string, count: number): Promise<void> {
  while (storedIn(folder).columns < count) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('neither keys nor ids are repeated in the file, and documents are read as they were written', async (t) => {
  const folder = await filled(t, 100)

  const index = await openLines(t, folder)
  const lines = index.collection(lineIndex)

  const { id, doc } = lineOf(42)
  const { owner, said_at, ...reply } = doc
  assert.deepEqual(storedIn(folder), { texts: 0, columns: 100 })
  assert.ok(!readFileSync(join(folder, 'index.sqlite')).includes('"line_id":'))
  assert.deepEqual(await lines.get(id), { ...reply, owner, said_at })
  assert.equal(await lines.getText(id), JSON.stringify(reply))
  assert.deepEqual((await lines.find({ text: { words: 'word42' } })).hits[0]?.text, JSON.stringify(reply))
  assert.deepEqual((await lines.find({ size: 1 })).hits[0]?.id, lineOf(99).id)
  for await (const [part] of lines.parts({ filter: { eq: ['film', 'f3'] }, paths: ['line_id', 'number', 'film'] }))
    assert.deepEqual(part, { id: 'f3-10', values: ['f3-10', 10, 'f3'] })
  assert.equal((await allOf(lines.scan())).length, 100)
})

const ODD: Array<[name: string, doc: object]> = [
  ['signs', { line: '"\\/\b\f\n\r\t\u0001\u001f\u007f\u2028é😀</script>' }],
  ['a blank text', { line: '' }],
  ['half of a character', { line: 'a\ud800b' }],
  ['a zero in a text', { line: 'a\0b' }],
  ['a large number', { number: Number.MAX_SAFE_INTEGER }],
  ['a number with a fraction', { number: 1.5 }],
  ['minus nothing', { number: -0 }],
  ['a number in place of a text', { line_id: 7 }],
  ['a key too many', { more: [1, { a: null }] }],
  ['a key too few', { number: undefined }],
  ['no value', { line_id: null }],
]

for (const [name, change] of ODD)
  test(`a document with ${name} is read as it was written, also after a change`, async (t) => {
    const index = await openLines(t, await temporaryFolder(t))
    const lines = index.collection(lineIndex)
    const doc = JSON.parse(JSON.stringify({ ...lineOf(1).doc, ...change }))
    await lines.put('odd', lineOf(1).doc)

    await lines.put('odd', doc)

    const { owner: _owner, said_at: _at, ...reply } = doc
    assert.deepEqual(await lines.get('odd'), doc)
    assert.deepEqual(JSON.parse((await lines.getText('odd'))!), reply)
    await lines.put('odd', lineOf(2).doc)
    assert.deepEqual(await lines.get('odd'), lineOf(2).doc)
    await lines.remove('odd')
    assert.equal(await lines.get('odd'), undefined)
  })

test('documents of an earlier version can be read at once, and move into columns, where they take less space', async (t) => {
  const folder = await filled(t, MANY)
  asTexts(folder)
  const before = sizeIn(folder)

  const index = await openLines(t, folder)

  const lines = index.collection(lineIndex)
  const { owner: _owner, said_at: _at, ...reply } = lineOf(4000).doc
  assert.equal(await lines.getText(lineOf(4000).id), JSON.stringify(reply))
  await lines.put(lineOf(3).id, { ...lineOf(3).doc, line: 'changed meanwhile' })
  await packed(folder, MANY)
  assert.deepEqual(storedIn(folder), { texts: 0, columns: MANY })
  assert.equal((await lines.get(lineOf(3).id))?.line, 'changed meanwhile')
  assert.equal(await lines.getText(lineOf(4000).id), JSON.stringify(reply))
  await index.end()
  assert.ok(sizeIn(folder) < before * 0.8)
})

test('snapshots of both forms are restored, and one with an unknown description is refused', async (t) => {
  const folder = await filled(t, 200)
  const now = await openLines(t, folder)
  await now.snapshotTo(join(folder, 'columns.sqlite'))
  await now.snapshotTo(join(folder, 'hostile.sqlite'))
  await now.end()
  asTexts(folder)
  const texts = new Database(join(folder, 'index.sqlite'))
  texts.prepare('VACUUM INTO ?').run(join(folder, 'texts.sqlite'))
  texts.close()
  const hostile = new Database(join(folder, 'hostile.sqlite'))
  hostile.exec(
    `UPDATE index_flat SET form = replace(form, '"key":"number"', '"key":"number\\", load_extension(1), \\""')`,
  )
  hostile.close()

  const index = await openLines(t, await temporaryFolder(t))

  for (const form of ['texts', 'columns']) {
    await index.collection(lineIndex).removeWhere({ exists: 'film' })
    const path = join(folder, `${form}.sqlite`)
    assert.deepEqual((await index.readFrom!(path, 'line', ['f0-0', 'none'])).get('f0-0'), lineOf(0).doc)
    assert.equal((await index.restoreFrom(path)).written, 200)
    const all = await allOf(index.collection(lineIndex).scan())
    for (const { id, doc } of all) assert.deepEqual(doc, lineOf(Number(id.split('-')[1])).doc)
  }
  await assert.rejects(index.restoreFrom(join(folder, 'hostile.sqlite')), (error) => isAppError(error, 'unprocessable'))
  assert.equal(await index.collection(lineIndex).count(), 200)
})

test('a definition with other keys is migrated, and documents without a definition can still be read', async (t) => {
  const folder = await filled(t, 50)
  const grown = defineIndex({
    ...lineIndex,
    doc: Type.Object({ ...lineIndex.doc.properties, speaker: Type.String() }),
    form: 'with a speaker',
    reform: (doc) => ({ ...doc, speaker: `says ${doc.number}` }),
  })

  const index = await openLines(t, folder, [grown])

  const doc = { ...lineOf(8).doc, speaker: 'says 8' }
  assert.deepEqual(await index.collection(grown).get(lineOf(8).id), doc)
  await index.end()
  const other = await openLines(t, folder, [])
  const left = await other.leftover!('line')
  const found = await allOf(left!.scan())
  assert.deepEqual(found.find(({ id }) => id === lineOf(8).id)?.doc, doc)
})

test('the check of a data folder finds damaged texts next to documents in columns', async (t) => {
  const folder = await filled(t, 20)
  const db = new Database(join(folder, 'index.sqlite'))
  db.exec(
    `INSERT INTO line_v1_doc(rid, text) SELECT rid, '{"film' FROM line_v1_flat LIMIT 1; DELETE FROM line_v1_flat WHERE rid IN (SELECT rid FROM line_v1_doc)`,
  )
  db.close()

  const findings = await checkIndexFile({ settings: { dataDir: folder } } as Parameters<typeof checkIndexFile>[0])

  assert.match(findings.at(-1)!.said, /^1 are damaged \(line f0-0\)/)
})
