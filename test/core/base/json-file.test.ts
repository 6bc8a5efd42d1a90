/** Reads small JSON files: valid, damaged and missing ones. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Type } from 'typebox'
import { readJson } from '../../../core/base/json-file.ts'
import { temporaryFolder } from '../../support/folder.ts'

const Shelves = Type.Array(Type.String())

test('a file is read if it contains JSON of the right form; any other file counts as missing', async (t) => {
  const path = join(await temporaryFolder(t), 'shelves.json')
  const read = async (text: string) => {
    await writeFile(path, text)
    return readJson(path, Shelves)
  }

  assert.equal(await readJson(path, Shelves), undefined)
  assert.deepEqual(await read('["a", "b"]'), ['a', 'b'])
  assert.equal(await read('["a", 1]'), undefined)
  assert.equal(await read('["a"'), undefined)
})
