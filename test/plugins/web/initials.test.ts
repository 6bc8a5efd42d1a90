/** The initials of an account. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { initialsOf } from '../../../plugins/web/page/parts/initials.ts'

const NAMES: Array<[name: string, letters: string]> = [
  ['admin', 'A'],
  ['ana.maria-lopez', 'AL'],
  ['jo@example.org', 'JO'],
  ['élodie', 'É'],
  ['__x__', 'X'],
  ['...', '.'],
  ['', ''],
]
test('any name has initials', () => {
  for (const [name, letters] of NAMES) assert.equal(initialsOf(name), letters, name)
})
