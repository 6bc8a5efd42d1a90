/** The words near a misspelt one are those within the edit distance. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editDistance } from '../../../plugins/index-kit/edit-distance.ts'
import { openVocabulary } from '../../../plugins/sqlite/fuzzy.ts'
import { randomFrom } from '../../bench/generate.ts'

test('near words are found with their distances, after insertions, deletions, replacements or swaps', () => {
  const random = randomFrom(7)
  const letters = ['ab', 'abcd', 'abcdefghijklmnopqrstuvwxyz0189', 'aäßσж東京タ'].map((all) => [...all])
  const oneOf = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)]!
  const made = () => {
    const some = oneOf(letters)
    return Array.from({ length: 2 + Math.floor(random() * 23) }, () => oneOf(some)).join('')
  }
  const changed = (word: string) => {
    const at = Math.floor(random() * (word.length - 1))
    const [before, first, second, after] = [word.slice(0, at), word[at]!, word[at + 1]!, word.slice(at + 2)]
    const letter = oneOf(oneOf(letters))
    return oneOf([
      `${before}${second}${first}${after}`,
      `${before}${second}${after}`,
      `${before}${letter}${first}${second}${after}`,
      `${before}${letter}${second}${after}`,
    ])
  }
  const asked = Array.from({ length: 300 }, made)
  const words = new Set(
    asked.flatMap((word) => [word, changed(word), changed(changed(word)), changed(changed(changed(word)))]),
  )
  const vocabulary = openVocabulary(false)
  const known = [...words].filter(({ length }) => length >= 2 && length <= 24)
  for (const word of known) vocabulary.add(word)

  let count = 0
  for (const word of asked) {
    for (const edits of [1, 2]) {
      const expected = known.flatMap((term) => {
        const distance = editDistance(word, term, edits)
        return distance > 0 && distance <= edits ? [{ term, distance }] : []
      })
      count += expected.length
      const found = vocabulary.words.near(word, edits)
      assert.deepEqual(found.sort(byTerm), expected.sort(byTerm), `${word}, ${edits}`)
    }
  }
  assert.ok(count > 500, 'there is something to find')
})

const byTerm = (a: { term: string }, b: { term: string }) => (a.term < b.term ? -1 : 1)
