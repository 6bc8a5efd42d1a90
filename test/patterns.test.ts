/** Regular expressions take no more than linear time for any input from outside. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Attack, attacksOn } from './support/attacks.ts'
import { type Pattern, readPatterns } from './support/patterns.ts'
import './support/slow.ts'

/** Longest allowed time for ten times the text, as a multiple. */
const MOST_TIMES_LONGER = 15
/** Shorter times are not compared, because the clock is not exact enough. */
const WORTH_COMPARING_MS = 5
/** If so few characters take this long, the time doubles with every few more, and longer texts would not end. */
const FEW_SIGNS_MS = 50
/** A time that exceeds the limit by this factor is not measured again. */
const BEYOND_NOISE = 5

/** Patterns that are composed at run time, with an example of each. */
const MADE: Record<string, Omit<Pattern, 'place'>> = {
  'plugins/adoption/combine-sources.ts: `[\\\\s_.-]{0,9}[[({]?(?:youtube[ -])?${id}[\\\\])}]?`': {
    source: '[\\s_.-]{0,9}[[({]?(?:youtube[ -])?aB3dE6gH9jK[\\])}]?',
    flags: 'i',
  },
  "plugins/index-kit/text.ts: `[${Object.keys(LETTERS).join('')}]`": { source: '[øæłđß]', flags: 'g' },
  'plugins/platform/targets.ts: `^(?:${rules.prefix}|TA)_playlist_[A-Za-z0-9_-]{1,100}$`': {
    source: '^(?:av|TA)_playlist_[A-Za-z0-9_-]{1,100}$',
    flags: '',
  },
  // The alternatives of the pattern are listed next to it as texts.
  'plugins/download/preferences.ts: pattern': { source: '^[A-Za-z0-9_:~,.+ -]+$', flags: 'u' },
  'plugins/platform/preferences.ts: pattern': {
    source:
      '^(https?|socks4a?|socks5h?)://[^\\s/?#]+/?$|^[0-9A-Fa-f:.]{2,45}$|^https?://[^\\s/?#@]+(/[^\\s?#]*)?$|^[a-z][a-z0-9_]{1,39}(,[a-z][a-z0-9_]{1,39}){0,19}$',
    flags: 'u',
  },
  // A key of a schema; re2js compiles user input, in linear time.
  'plugins/rules/schema.ts: Type.String({ minLength: 1, maxLength: LONGEST_PATTERN })': { source: 'a', flags: '' },
  'plugins/rules/wishes.ts: pattern': { source: 'a', flags: '' },
  'plugins/web/page/parts/rule-words.ts: text.pattern': { source: 'a', flags: '' },
  'plugins/web/page/views/settings/rules/conditions.tsx: given': { source: 'a', flags: '' },
}

const { patterns, made } = readPatterns()

test('every pattern is known: those that are composed at run time have an example here', () => {
  assert.deepEqual(made, Object.keys(MADE).sort())
  assert.ok(patterns.length > 150, `${patterns.length} patterns found`)
})

test('no pattern takes more than fifteen times as long for ten times the text', () => {
  const all = [...patterns, ...Object.entries(MADE).map(([place, pattern]) => ({ place, ...pattern }))]

  assert.deepEqual(
    all.flatMap((pattern) => slowness(pattern) ?? []),
    [],
  )
})

test('the attacks detect patterns that are known to be slow', () => {
  const slow = [
    '<[^>]*>',
    '\\s+$',
    '(a+)+b',
    '(?:a|a)*b',
    '^(\\w+\\s?)*$',
    'x*x*y',
    '\\[[\\w:]+\\]\\s*\\S+:\\s',
    '[?&][^=&]*(?:key|pass)[^=&]*=',
    '(?<!<)\\p{L}+\\d',
  ]

  assert.deepEqual(
    slow.filter((source) => slowness({ place: 'here', source, flags: 'u' }, 10_000) === undefined),
    [],
  )
})

/**
 * Describes a pattern's defect in a sentence.
 * @param size  of the longer text
 */
function slowness(pattern: Pattern, size = 100_000): string | undefined {
  // Finds all matches, even if the code uses only the first.
  const expression = new RegExp(pattern.source, [...new Set(`${pattern.flags}g`)].join(''))
  const timeOf = (text: string): number => {
    const before = process.cpuUsage()
    expression.lastIndex = 0
    for (let at = 0; expression.test(text); at = expression.lastIndex)
      if (expression.lastIndex === at) expression.lastIndex++
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 // processor time, because other programs may run meanwhile
  }
  const isLong = (text: string): boolean => {
    const first = timeOf(text)
    if (first > BEYOND_NOISE * FEW_SIGNS_MS) return true
    return first > FEW_SIGNS_MS && [1, 2].every(() => timeOf(text) > FEW_SIGNS_MS)
  }
  const isSlow = (attack: Attack): boolean => {
    // Small steps, because a few more characters may take hours.
    for (let few = 16; few < 1100; few *= few < 64 ? 1.1 : 2) if (isLong(attack(few))) return true
    const [long, short] = [attack(size), attack(size / 10)]
    let best = timeOf(long)
    if (best <= WORTH_COMPARING_MS) return false
    const shortest = Math.min(...Array.from({ length: 5 }, () => timeOf(short)))
    const isTooLong = () => best > WORTH_COMPARING_MS && best > MOST_TIMES_LONGER * shortest
    for (let times = 1; times < 5 && isTooLong() && best < 1000; times++) best = Math.min(best, timeOf(long))
    return isTooLong()
  }
  const found = attacksOn(pattern).find(isSlow)
  return found && `${pattern.place}: /${pattern.source}/${pattern.flags} is slow on ${JSON.stringify(found(30))}`
}
