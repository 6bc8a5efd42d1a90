/** Files in the cache: limited to a total size, the oldest are deleted first, and found again after a start. */
import assert from 'node:assert/strict'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { openCacheFiles } from '../../../plugins/plugin-kit/cache-files.ts'
import { temporaryFolder } from '../../support/folder.ts'

test('the oldest make room for a new one, which stays whatever its size', async (t) => {
  const folder = await temporaryFolder(t)
  const open = () => openCacheFiles({ folder, ending: '.m4a', room: () => 10 })
  const files = open()
  await files.begin()
  const keep = async (id: string, bytes: number, second: number) => {
    await writeFile(files.beginDraft(id), 'x'.repeat(bytes))
    await utimes(files.draftOf(id), second, second)
    await files.keep(id)
  }

  await keep('b', 4, 20)
  await keep('a', 4, 10)
  await keep('c', 4, 30)
  assert.deepEqual((await readdir(folder)).sort(), ['b.m4a', 'c.m4a'])
  await keep('d', 40, 5)
  assert.deepEqual(await readdir(folder), ['d.m4a'])

  await writeFile(files.beginDraft('e'), 'half')
  const again = open()
  await again.begin()
  assert.deepEqual([again.get('d')?.bytes, again.has('e'), await readdir(folder)], [40, false, ['d.m4a']])
  await again.dropUnknown(async () => new Set())
  assert.deepEqual([again.has('d'), await readdir(folder)], [false, []])
})

test('a file that was begun before its source was dropped is not kept; making room never drops an unfinished file', async (t) => {
  const folder = await temporaryFolder(t)
  let room = 20
  const files = openCacheFiles({ folder, ending: '.m4a', room: () => room })
  await files.begin()
  const begin = (id: string) => writeFile(files.beginDraft(id), 'x'.repeat(8))

  for (const id of ['a', 'b']) await begin(id)
  await files.drop(['a'])
  for (const id of ['a', 'b']) await files.keep(id)
  assert.deepEqual([files.has('a'), files.has('b')], [false, true])

  room = 10
  for (const id of ['b', 'c']) await begin(id)
  await files.keep('c')
  await files.keep('b')
  assert.deepEqual([files.has('b'), files.has('c')], [true, false])
})

test('what is dropped while its file is being added does not stay', async (t) => {
  const folder = await temporaryFolder(t)
  const files = openCacheFiles({ folder, ending: '.m4a', room: () => 100 })
  await files.begin()
  const begin = (id: string) => writeFile(files.beginDraft(id), id)
  await begin('again')
  await files.keep('again')
  for (const id of ['again', 'new']) await begin(id)

  await Promise.all([files.keep('again'), files.keep('new'), files.drop(['again', 'new'])])

  assert.deepEqual([files.has('again'), files.has('new'), await readdir(folder)], [false, false, []])
})

test('an unfinished file of a document that no longer exists is not added', async (t) => {
  const folder = await temporaryFolder(t)
  const files = openCacheFiles({ folder, ending: '.m4a', room: () => 100 })
  await files.begin()
  for (const id of ['gone', 'known']) await writeFile(files.beginDraft(id), id)

  await files.dropUnknown(async () => new Set(['known']))
  for (const id of ['gone', 'known']) await files.keep(id)

  assert.deepEqual([files.has('gone'), files.has('known')], [false, true])
})
