/** No text from outside, however nasty, takes a regular expression of ours much longer than its length allows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Attack, attacksOn } from './support/attacks.ts'
import { type Pattern, readPatterns } from './support/patterns.ts'
import './support/slow.ts'

/** Ten times the text may take so many times as long. */
const MOST_TIMES_LONGER = 15
/** Below this nothing is compared: it is over soon, and a clock's noise. */
const WORTH_COMPARING_MS = 5
/** Where few signs take so long, the time doubles with each few more: longer texts would not end. */
const FEW_SIGNS_MS = 50
/** What takes so many times as long as it may is looked at once only. */
const BEYOND_NOISE = 5

/** What is put together while the server runs, by what it comes to. */
const MADE: Record<string, Omit<Pattern, 'place'>> = {
  'plugins/adoption/beside.ts: `[\\\\s_.-]{0,9}[[({]?(?:youtube[ -])?${id}[\\\\])}]?`': {
    source: '[\\s_.-]{0,9}[[({]?(?:youtube[ -])?aB3dE6gH9jK[\\])}]?',
    flags: 'i',
  },
  "plugins/index-kit/text.ts: `[${Object.keys(LETTERS).join('')}]`": { source: '[øæłđß]', flags: 'g' },
  'plugins/platform/targets.ts: `^(?:${rules.prefix}|TA)_playlist_[A-Za-z0-9_-]{1,100}$`': {
    source: '^(?:av|TA)_playlist_[A-Za-z0-9_-]{1,100}$',
    flags: '',
  },
  // The patterns themselves stand beside it, as texts.
  'plugins/download/preferences.ts: pattern': { source: '^[A-Za-z0-9_:~,.+ -]+$', flags: 'u' },
  'plugins/platform/preferences.ts: pattern': {
    source:
      '^(https?|socks4a?|socks5h?)://[^\\s/?#]+/?$|^[0-9A-Fa-f:.]{2,45}$|^https?://[^\\s/?#@]+(/[^\\s?#]*)?$|^[a-z][a-z0-9_]{1,39}(,[a-z][a-z0-9_]{1,39}){0,19}$',
    flags: 'u',
  },
  // A key of a schema: what people write is compiled by re2js, which takes linear time.
  'plugins/rules/schema.ts: Type.String({ minLength: 1, maxLength: LONGEST_PATTERN })': { source: 'a', flags: '' },
  'plugins/rules/wishes.ts: pattern': { source: 'a', flags: '' },
  'plugins/web/page/parts/rule-words.ts: text.pattern': { source: 'a', flags: '' },
  'plugins/web/page/views/settings/rules/conditions.tsx: given': { source: 'a', flags: '' },
}

const { patterns, made } = readPatterns()

test('every pattern is known: what is put together while the server runs has an example here', () => {
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

test('the attacks find what is known to be slow', () => {
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

/** What is wrong with a pattern, in a sentence. @param size  of the longer text */
function slowness(pattern: Pattern, size = 100_000): string | undefined {
  // Each of its matches, wherever it is used for the first alone.
  const expression = new RegExp(pattern.source, [...new Set(`${pattern.flags}g`)].join(''))
  const timeOf = (text: string): number => {
    const before = process.cpuUsage()
    expression.lastIndex = 0
    for (let at = 0; expression.test(text); at = expression.lastIndex)
      if (expression.lastIndex === at) expression.lastIndex++
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 // of the processor: others may use it meanwhile
  }
  const isLong = (text: string): boolean => {
    const first = timeOf(text)
    if (first > BEYOND_NOISE * FEW_SIGNS_MS) return true
    return first > FEW_SIGNS_MS && [1, 2].every(() => timeOf(text) > FEW_SIGNS_MS)
  }
  const isSlow = (attack: Attack): boolean => {
    // Small steps as long as a few more signs may take hours.
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
