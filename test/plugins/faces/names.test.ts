/** Names that media servers, FAT and shells read as intended; the test data are known problems of Jellyfin and Kodi. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brokenUpId, cutTo, ENDING_BYTES, withId } from '../../../plugins/faces/names.ts'

const film = (title: string, id = 'dQw4w9WgXcQ'): string =>
  withId('S2026E112 - ', title, id, 255 - ENDING_BYTES).replace('S2026E112 - ', '')

const CASES: Array<[title: string, name: string, why: string]> = [
  ['My S2E5-E6 recap', 'My S 2 E 5-E 6 recap', 'two more episodes in Kodi, an end in Jellyfin'],
  ['Show S01E02-03 review', 'Show S 01 E 02-03 review', 'an end'],
  ['4x4-6 build', '4 × 4-6 build', 'an end'],
  ['1920x1080-2 test', '1920 × 1080-2 test', 'an end'],
  ['E5 is next', 'E 5 is next', 'an end right behind our number'],
  ['-E7 x8', 'E 7 × 8', 'the same behind a dash'],
  ['a/b: c? "d" <e> f|g*h\\i', 'a⁄b꞉ c？ ”d” ‹e› f¦g∗h⧵i', 'FAT and SMB refuse these'],
  ['A free sample', 'A free ‘sample’', 'Kodi passes over it'],
  ['[x] {y}', '(x) {y}', 'brackets are for the id, and for shells'],
  ['...hidden...', 'hidden', 'dots at the ends'],
  ['  a \u0000\u202e b\n\tc  ', 'a b c', 'controls and turned directions'],
  ['Cafe\u0301', 'Café', 'one form of Unicode'],
  ['a\ud800b', 'a\ufffdb', 'half a character'],
]

test('titles are split where a server would read a number, and characters that file systems refuse are removed', () => {
  for (const [title, name, why] of CASES) assert.equal(film(title), `${name} [dQw4w9WgXcQ]`, why)
})

test('a title without usable characters, and one that means an extra to a server, end with the id', () => {
  assert.equal(film('...'), '[dQw4w9WgXcQ]')
  for (const title of ['The film - trailer', 'The film-short', 'sample', 'a.sample.b'])
    assert.ok(film(title).endsWith(' [dQw4w9WgXcQ]'))
})

test('an id that looks like a number is split by spaces alone, and any other stays unchanged', () => {
  for (const id of ['aS01E02-03bc', '4x4-6abcdef', 's1e1', 'S2E5-E6']) {
    assert.notEqual(brokenUpId(id), id)
    assert.equal(brokenUpId(id).replaceAll(' ', ''), id)
  }
  for (const id of ['dQw4w9WgXcQ', 'UC_x5XG1OV2P6uZZ5FSM9Ttw', '-short']) assert.equal(brokenUpId(id), id)
})

test('a name has at most 255 bytes including its suffix, is cut between characters, and keeps its id', () => {
  for (const title of ['a'.repeat(400), '日本語'.repeat(100), '👨‍👩‍👧'.repeat(60), 'é'.repeat(300)]) {
    const name = withId('S2026E112 - ', title, 'dQw4w9WgXcQ', 255 - ENDING_BYTES)
    assert.ok(Buffer.byteLength(`${name}.zh-Hans-419-x-a-long-private-language.srt`) <= 255)
    assert.match(name, /^S2026E112 - .+ \[dQw4w9WgXcQ\]$/u)
    assert.ok(name.isWellFormed())
  }
  assert.equal(cutTo('👨‍👩‍👧👨‍👩‍👧', 30), '👨‍👩‍👧')
})
