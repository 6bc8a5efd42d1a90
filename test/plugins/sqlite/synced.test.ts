/** A write is on disk once the call resolves, even if the last documents of the call change nothing. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../support/folder.ts'
import { bookIndex, bookOf, openBooks } from './books.ts'

const DOCS = 150 // two messages to the worker: 100 and 50

test('documents are synced although the last ones of the same call exist already', async (t) => {
  const folder = await temporaryFolder(t)
  const index = await openBooks(folder)
  t.after(() => index.close())
  const books = index.collection(bookIndex)
  const beside = new Database(join(folder, 'index.sqlite'), { readonly: true })
  t.after(() => beside.close())
  /** Separate syncs, which follow commits that did not sync. */
  const syncs = () => beside.prepare<[], number>('SELECT times FROM index_sync').pluck().get()!
  const added = async (write: () => Promise<unknown>) => {
    const before = syncs()
    await write()
    return syncs() - before
  }
  const numbered = (length: number, from = 0) => Array.from({ length }, (_, at) => bookOf(from + at))
  const renamed = numbered(DOCS).map(({ id, doc }, at) => ({ id, doc: at < 100 ? { ...doc, title: 'New' } : doc }))

  while (syncs() === 0) await books.count() // until the cleanup after the start has ended

  assert.equal(await added(() => books.putMany(numbered(DOCS))), 0, 'the last commit syncs the log')
  assert.equal(await added(() => books.putMany(renamed)), 1)
  assert.equal(await added(() => books.putMany(renamed)), 1, 'the first message may have written')
  const newOnesFirst = [...numbered(100, DOCS), ...numbered(50)]
  assert.equal(await added(() => books.putMany(newOnesFirst, { onlyNew: true })), 1)
  assert.equal(await added(() => books.put('b000', renamed[0]!.doc)), 0, 'nothing is unsynced, and nothing changes')
})
