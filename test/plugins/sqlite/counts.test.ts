/** Counts are cached until what they count changes. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { defineIndex } from '../../../core/index/mapping.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { bookIndex, bookOf, openBooks } from './books.ts'

const markedIndex = defineIndex({
  ...bookIndex,
  fields: {
    ...bookIndex.fields,
    year: { type: 'long', filter: true },
    marks: { type: 'keyword', multi: true, filter: true },
  },
})

test('a count of single values is cached while texts and marks change, and follows all other changes', async (t) => {
  const folder = await temporaryFolder(t)
  const index = await openBooks(folder, [markedIndex])
  t.after(() => index.close())
  const books = index.collection(markedIndex)
  const counts = async () => [
    await books.count(),
    await books.count({ eq: ['owner', 'me'] }),
    await books.count({ eq: ['marks', 'm1'] }),
  ]
  await books.putMany([1, 2, 3, 4].map(bookOf))
  assert.deepEqual(await counts(), [4, 4, 2])
  const beside = new Database(join(folder, 'index.sqlite'))
  t.after(() => beside.close())

  beside.exec(`INSERT INTO book_v1(rid, id, owner, year) VALUES (1, 'unseen', 'me', 1950)`)
  await books.patch('b001', { set: { subtitle: 'another text' }, remove: { marks: ['m1'] } })
  assert.deepEqual(await counts(), [4, 4, 1], 'kept: nothing that the index wrote changes the first two')

  beside.exec(`DELETE FROM book_v1 WHERE id = 'unseen'`)
  await books.put('b005', bookOf(5).doc)
  assert.deepEqual(await counts(), [5, 5, 2])
  await books.patch('b005', { set: { owner: 'you' } })
  assert.deepEqual(await counts(), [5, 4, 2])
  await books.patchWhere({ eq: ['year', 1902] }, { set: { owner: 'you' } })
  assert.deepEqual(await counts(), [5, 3, 2])
  await books.put('b003', { ...bookOf(3).doc, addedAt: 77 })
  assert.deepEqual(await counts(), [5, 3, 2])
  await books.remove('b003')
  assert.deepEqual(await counts(), [4, 2, 1])
  await index.replaceAll(async (write) => void (await write('book', [bookOf(9)])))
  assert.deepEqual(await counts(), [1, 1, 1])
})

test('a count from a transaction that was undone is computed again', async (t) => {
  const index = await openBooks(await temporaryFolder(t), [markedIndex])
  t.after(() => index.close())
  const books = index.collection(markedIndex)
  await books.put('b001', bookOf(1).doc)

  const { failed } = await books.putMany([bookOf(2), { id: 'wrong', doc: { ...bookOf(3).doc, year: 'none' as never } }])

  assert.deepEqual(
    failed.map(({ id }) => id),
    ['wrong'],
  )
  assert.equal(await books.count(), 2)
})
