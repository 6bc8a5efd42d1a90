/** The function that decides: the first match wins, unknown values wait, and a pattern takes linear time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from 'archivolt'
import { RE2JS } from 're2js'
import { compile, decide, type Facts } from '../../../plugins/rules/decide.ts'
import { check } from '../../../plugins/rules/rule-rows.ts'
import type { Conditions, Outcome, Rule } from '../../../plugins/rules/schema.ts'

const rule = (id: number, conditions: Conditions, outcome: Outcome, more: Partial<Rule> = {}): Rule => ({
  ...{ id, side: 'take', scope: { kind: 'all' }, conditions, outcome, name: '', isOn: true },
  ...more,
})
const facts = (more: Partial<Facts> = {}): Facts => ({
  ...{ id: 'v1', channelId: 'UC1', title: 'Harbour tour', isIn: (scope) => scope.kind === 'all' },
  ...more,
})
const decided = (rules: readonly Rule[], given: Facts, isFinal = false) => {
  const decision = decide(compile(rules), given, isFinal)
  return 'unknown' in decision ? decision.unknown : decision.rule?.id
}

test('the first matching rule decides; disabled rules and those of another scope are skipped', () => {
  const rules = [
    rule(1, { title: { words: ['harbour'] } }, 'skip', { isOn: false }),
    rule(2, {}, 'skip', { scope: { kind: 'channel', id: 'UC2' } }),
    rule(3, { title: { words: ['TOUR'] }, shorter_than: 60 }, 'skip'),
    rule(4, { title_not: { words: ['tour'] } }, 'skip'),
    rule(5, { title: { pattern: '^Harbour' } }, 'ignore'),
    rule(6, {}, 'skip'),
  ]

  assert.equal(decided(rules, facts({ seconds: 600 })), 5)
  assert.equal(decided(rules, facts({ seconds: 30 })), 3)
  assert.equal(decided(rules.toReversed(), facts({ seconds: 30 })), 6)
  assert.equal(decided(rules.slice(0, 2), facts()), undefined)
})

test('an unknown value is waited for only if it decides; a value that never becomes known matches no condition', () => {
  const rules = [
    rule(1, { published_within: 30, title: { words: ['news'] } }, 'take'),
    rule(2, { languages: ['de'] }, 'skip'),
    rule(3, {}, 'ignore'),
  ]

  assert.equal(decided(rules, facts()), 'languages')
  assert.equal(decided(rules, facts({ title: 'News' })), 'published_within')
  assert.equal(decided(rules, facts({ title: 'News', publishedDays: 3 })), 1)
  assert.equal(decided(rules, facts({ language: 'de-AT' })), 2)
  assert.equal(decided(rules, facts(), true), 3)
})

test('a pattern that could take for ever is refused with an alternative, and any other ends in time', () => {
  const refusalOf = (pattern: string): string => {
    try {
      check({
        side: 'take',
        scope: { kind: 'all' },
        conditions: { title: { pattern } },
        outcome: 'skip',
        name: '',
        isOn: true,
      })
      return ''
    } catch (error) {
      assert.ok(isAppError(error, 'bad_request'), String(error))
      return error.message
    }
  }
  for (const pattern of ['(?=.*live)news', '(?<!un)boxing', '(?!trailer)'])
    assert.match(refusalOf(pattern), /lookahead or lookbehind/)
  assert.match(refusalOf('(a)\\1'), /backreference/)
  assert.match(refusalOf('a++'), /possessive/)
  for (const pattern of ['(', '[a', 'a{5000}', '((((a{100}){100}){100}){100})', '*', '\\'])
    assert.match(refusalOf(pattern), /is not a valid pattern/, pattern)
  for (const pattern of ['\\(?=', '[(?=]', '(?i)harbour|küste', '\\d{4}-\\d\\d', '^$', 'a+?b'])
    assert.equal(refusalOf(pattern), '', pattern)

  const hostile = ['(a*)*b', '(a|a)*$', '(a+)+$', '(.*)*x(.*)*y', '([a-z]+)*!']
  const started = process.cpuUsage()
  for (const pattern of hostile) {
    const rules = compile([rule(1, { title: { pattern } }, 'skip')])
    decide(rules, facts({ title: `${'a'.repeat(20_000)}!` }), true)
  }
  assert.ok(process.cpuUsage(started).user < 2_000_000, 'each takes time that grows with the title alone')
})

test('many patterns that are searched for together match exactly where each matches alone', () => {
  const pieces = [
    'a',
    'b',
    'ab',
    '(?i)B',
    '[^a]',
    '\\bab',
    'a\\b',
    '^a',
    'b$',
    'a{2,3}',
    '(a|b)+c',
    '.',
    '\\d',
    'ü',
    '(?s).b',
  ]
  const letters = ['a', 'b', 'B', 'c', ' ', '7', 'ü', '\n', '😀']
  let seed = 7
  const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  const some = (from: readonly string[], most: number) =>
    Array.from({ length: 1 + next(most) }, () => from[next(from.length)]).join('')
  const patterns = Array.from({ length: 60 }, () => some(pieces, 4).replace(/(.)\(\?[is]\)/gs, '$1'))
  const titles = Array.from({ length: 400 }, () => some(letters, 8))
  const together = compile(patterns.map((pattern, id) => rule(id, { title: { pattern } }, 'skip')))

  for (const title of titles)
    for (const [at, pattern] of patterns.entries()) {
      const alone = RE2JS.compile(pattern).test(title)
      const decision = decide([together[at]!], facts({ title }), true)
      assert.equal('rule' in decision && decision.rule !== undefined, alone, `${pattern} in ${title}`)
    }
})
