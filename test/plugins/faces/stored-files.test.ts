/** The ledger's storage format for the files of a unit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromStored, type KnownFile, toStored } from '../../../plugins/faces/types.ts'

const FILES: KnownFile[] = [
  ['Boats [UC1]/Season 2026/S2026E1 - 🚢 [v1].nfo', 'a', '1:2:3'],
  ['Boats [UC1]/Season 2026/S2026E1 - 🚤 [v1].mp4', 'b', null],
]

test('the files of a unit are read as they were written, whatever their paths have in common', () => {
  for (const files of [[], FILES.slice(0, 1), FILES, [...FILES, ['other', 'c', '-/gone'] satisfies KnownFile]])
    assert.deepEqual(fromStored(JSON.parse(JSON.stringify(toStored(files)))), files)
  assert.ok(JSON.stringify(toStored(FILES)).length < JSON.stringify(FILES).length)
})

test('rows of earlier versions are read, too', () => {
  assert.deepEqual(fromStored(JSON.parse(JSON.stringify(FILES))), FILES)
})
