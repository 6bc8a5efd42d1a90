/** The search language: contract 7. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseQuery, type Query } from '../../../plugins/search/query-syntax.ts'

const rows: Array<[string, Partial<Query>]> = [
  ['sourdough bread', { term: 'sourdough bread' }],
  ['  SOURDOUGH \t Bread\n', { term: 'sourdough bread' }],
  ['simple:sourdough', { term: 'sourdough' }],
  ['simple: sourdough', { term: 'sourdough' }],
  [
    'video:sourdough starter channel:old mill active:yes',
    { type: 'video', term: 'sourdough starter', channel: 'old mill', active: true },
  ],
  ['video:bread active:yes channel:old mill', { type: 'video', term: 'bread', channel: 'old mill', active: true }],
  ['video:', { type: 'video', term: '' }],
  ['video: active:no', { type: 'video', term: '', active: false }],
  ['video: active:true', { type: 'video', term: '', active: true }],
  ['video: active:maybe', { type: 'video', term: '', active: false }],
  ['video:bread active: yes', { type: 'video', term: 'bread', active: true }],
  ['video:bread active:yes linux', { type: 'video', term: 'bread', active: true }],
  ['channel:bakery subscribed:yes', { type: 'channel', term: 'bakery', subscribed: true }],
  ['channel:mill subscribed:YES', { type: 'channel', term: 'mill', subscribed: true }],
  ['playlist: subscribed:yes active:no', { type: 'playlist', term: '', subscribed: true, active: false }],
  ['full:cold proof lang:en source:user', { type: 'full', term: 'cold proof', lang: 'en', source: 'user' }],
  ['full:cold lang:en de', { type: 'full', term: 'cold', lang: 'en' }],
  ['full:cold lang:', { type: 'full', term: 'cold' }],
  ['full:cold channel:mill house lang:de', { type: 'full', term: 'cold', channel: 'mill house', lang: 'de' }],
  // Unknown syntax is text.
  ['12:30', { term: '12:30' }],
  ['a:b:c', { term: 'a:b:c' }],
  ['index:foo', { term: 'index:foo' }],
  ['term:foo', { term: 'term:foo' }],
  ['fuzzy:2 bred', { term: 'fuzzy:2 bred' }],
  ['active:yes bread', { term: 'active:yes bread' }],
  ['bread video:x', { term: 'bread video:x' }],
  ['bread active:no', { term: 'bread active:no' }],
  ['video:linux lang:en', { type: 'video', term: 'linux lang:en' }],
  ['video:active:no', { type: 'video', term: 'active:no' }],
  ['video:a channel:b:c', { type: 'video', term: 'a', channel: 'b:c' }],
  ['video:video:x', { type: 'video', term: 'video:x' }],
  [':', { term: ':' }],
  ['constructor:x', { term: 'constructor:x' }],
  // Fuzziness.
  ['bred fuzzy:no', { term: 'bred', fuzziness: 0 }],
  ['bred fuzzy:0', { term: 'bred', fuzziness: 0 }],
  ['bred fuzzy:1', { term: 'bred', fuzziness: 1 }],
  ['video:sourdogh bread fuzzy:2', { type: 'video', term: 'sourdogh bread', fuzziness: 2 }],
  ['bred fuzzy:9', { term: 'bred', fuzziness: 2 }],
  ['bred fuzzy:99999999999999999999', { term: 'bred', fuzziness: 2 }],
  ['bred fuzzy:x', { term: 'bred' }],
  ['bred fuzzy:-1', { term: 'bred' }],
  ['bred fuzzy:', { term: 'bred' }],
  ['fuzzy fuzzy:1 fuzzy:2', { term: 'fuzzy', fuzziness: 2 }],
]

test('a query is parsed into type, term and conditions', () => {
  for (const [text, expected] of rows)
    assert.deepEqual(parseQuery(text), { type: 'simple', fuzziness: 'auto', ...expected }, text)
})

test('the order of keywords does not matter', () => {
  assert.deepEqual(
    parseQuery('video:a active:yes channel:b c fuzzy:1'),
    parseQuery('video:a fuzzy:1 channel:b c active:yes'),
  )
})
