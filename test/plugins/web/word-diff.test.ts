/** The difference between two texts, word by word. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordDiff } from '../../../plugins/web/page/texts/word-diff.ts'

const shown = (before: string, after: string): string =>
  wordDiff(before, after)
    .map(({ is, text }) => (is === 'same' ? text : is === 'gone' ? `[-${text}-]` : `{+${text}+}`))
    .join('')

test('only different words are marked', () => {
  assert.equal(
    shown('Why the old ferry runs', 'Why the new ferry still runs'),
    'Why the [-old-]{+new+} ferry{+ still+} runs',
  )
  assert.equal(shown('same', 'same'), 'same')
  assert.equal(shown('', 'all new'), '{+all new+}')
  assert.equal(shown('gone', ''), '[-gone-]')
  assert.equal(shown('第一章です', '第二章です'), '[-第一章-]{+第二章+}です')
})

test('both texts can be read from the difference, however long they are', () => {
  const before = Array.from({ length: 1500 }, (_, word) => `a${word}`).join(' ')
  const after = Array.from({ length: 1500 }, (_, word) => `b${word}`).join(' ')

  const pieces = wordDiff(before, after)

  const textOf = (left: 'gone' | 'new') => pieces.flatMap(({ is, text }) => (is === left ? [] : [text])).join('')
  assert.deepEqual([textOf('new'), textOf('gone')], [before, after])
})
