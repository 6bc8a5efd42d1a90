/** The form of ids, and of file names that contain one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { idInName, isId } from 'archivolt'

test('an id has letters, digits, - and _, and at most 128 of them', () => {
  for (const id of ['a', '-aB_9', 'x'.repeat(128)]) assert.equal(isId(id), true, id)
  for (const text of ['', '.', 'a b', 'a.b', 'a/b', 'é', 'a\n', 'x'.repeat(129)])
    assert.equal(isId(text), false, JSON.stringify(text))
})

test('a file belongs to an id if its name is exactly the id and the extension', () => {
  assert.equal(idInName('-aB.mp4', '.mp4'), '-aB')
  for (const name of [
    '',
    '.mp4',
    'aB',
    'aB.mp3',
    'aB.mp4.part',
    'a.b.mp4',
    '../aB.mp4',
    'aB.mp4\n',
    'aBmp4',
    `${'x'.repeat(129)}.mp4`,
  ])
    assert.equal(idInName(name, '.mp4'), undefined, JSON.stringify(name))
})
