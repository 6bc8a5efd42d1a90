/** Joining JSON texts has the same result as joining the parsed values, whatever the texts contain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf, objectOf, withKeys } from '../../../core/base/splice.ts'
import { listUnder, textUnder, withKeysInside, withTwins } from '../../../plugins/plugin-kit/splice.ts'

/** Looks like keys and ends, but is neither. */
const HOSTILE = '","player":{"a":1},"list":[2],"url":"/x"}]} \\" \\\\ \u2028 {['
const PLAYER = { duration: 1, name: HOSTILE }

const parsed = (text: string): unknown => JSON.parse(text)
const text = JSON.stringify

test('lists and objects of texts', () => {
  assert.deepEqual(parsed(listOf([])), [])
  assert.deepEqual(parsed(listOf([text({ a: HOSTILE }), '2'])), [{ a: HOSTILE }, 2])
  assert.deepEqual(parsed(objectOf({ a: text([HOSTILE]), c: 'null' })), { a: [HOSTILE], c: null })
})

test('keys are added at the end, also to an empty object; the new value of a key counts', () => {
  for (const object of [{}, { a: HOSTILE }, { a: { b: [] } }])
    for (const values of [{}, { x: 1 }, { x: HOSTILE, y: null, gone: undefined }])
      for (const texts of [{}, { t: text({ deep: HOSTILE }) }] as Array<Record<string, string>>) {
        const expected = parsed(text({ ...object, ...('t' in texts && { t: { deep: HOSTILE } }), ...values }))
        assert.deepEqual(parsed(withKeys(text(object), values, texts)), expected)
      }
  assert.deepEqual(parsed(withKeys('{"a":1}', { a: 2 })), { a: 2 })
})

test('keys are added inside a member, at any position and with any content', () => {
  for (const object of [
    { title: HOSTILE, player: { duration: 1 } },
    { title: HOSTILE, player: {} },
    { title: HOSTILE, player: PLAYER },
    { player: { duration: 1 }, title: HOSTILE },
    { player: { duration: 1, deep: { a: 1 } } },
    { player: { duration: 1 }, stats: { player: { x: 1 } } },
    { other: { player: { x: 1 } }, player: { duration: 1 } },
    { player: { duration: 1 }, stats: { x: 1 } },
  ]) {
    const expected = { ...object, player: { ...object.player, position: 2 } }
    assert.deepEqual(parsed(withKeysInside(text(object), 'player', { position: 2 })), expected)
    assert.deepEqual(parsed(withKeysInside(text(object), 'player', { gone: undefined })), object)
    const more = { score: 1, name: HOSTILE }
    const whole = withKeysInside(text(object), 'player', { position: 2 }, more, { channel: text(PLAYER), url: '"/x"' })
    assert.deepEqual(parsed(whole), { ...expected, ...more, channel: PLAYER, url: '/x' })
  }
  for (const object of [{ title: 'x' }, { player: null }, { player: [1] }, { a: { player: {} } }])
    assert.throws(() => withKeysInside(text(object), 'player', {}), /no object player/)
})

test('a text is read if it is a top-level key, not one inside a value', () => {
  const cases: Array<[object, string | undefined]> = [
    [{ tags: [HOSTILE, 'x'], url: '/own' }, '/own'],
    [{ inner: { url: '/other' }, url: '/own' }, '/own'],
    [{ list: [{ url: '/other' }], url: '/own' }, '/own'],
    [{ url: HOSTILE }, HOSTILE],
    [{ inner: { url: '/other' } }, undefined],
    [{ url: 5 }, undefined],
    [{ title: HOSTILE }, undefined],
  ]
  for (const [object, expected] of cases) assert.equal(textUnder(text(object), 'url'), expected)
})

test('the last list is read; otherwise the whole text is parsed', () => {
  const list = [{ id: HOSTILE, replies: [{ list: [1] }] }]
  for (const object of [
    { id: 'a', list },
    { id: HOSTILE, list },
    { list, id: 'a' },
    { inner: { list: [1] }, list },
  ])
    assert.deepEqual(parsed(listUnder(text(object), 'list')), list)
  for (const object of [{ id: 'a' }, { list: 'none' }, { inner: { list } }])
    assert.deepEqual(parsed(listUnder(text(object), 'list')), [])
})

test('every object with a key gets the same value under another key', () => {
  const object = { entries: [{ id: 'a_-1', title: HOSTILE }, { id: 'b' }], id: '$1', note: '"id":"c"' }

  assert.deepEqual(parsed(withTwins(text(object), 'id', '$& "twin"')), {
    ...object,
    entries: [
      { id: 'a_-1', '$& "twin"': 'a_-1', title: HOSTILE },
      { id: 'b', '$& "twin"': 'b' },
    ],
  })
})
