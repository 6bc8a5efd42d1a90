/**
 * Decides which rule applies to a video, from the known facts about it. Scans, previews and runs all use this one
 * function.
 */
import { type Comparisons, openComparisons } from './patterns.ts'
import type { ConditionName, Conditions, Outcome, Quality, Rule, Scope, Text } from './schema.ts'

/** The facts about a video; an omitted fact is not known, or not yet. */
export interface Facts {
  id: string
  channelId: string
  /** Whether the video is in this scope. */
  isIn(scope: Scope): boolean
  title?: string
  description?: string
  seconds?: number
  /** Days since the day of publication. */
  publishedDays?: number
  /** YYYY-MM-DD */
  published?: string
  kind?: string
  isPremiere?: boolean
  availability?: string
  language?: string
  hasSubtitles?: boolean
  height?: number
  views?: number
  bytes?: number
  /** Days since the video was added to the archive. */
  addedDays?: number
  isOnPlatform?: boolean
  /** Days since the video counts as watched by these accounts; null: it does not count as watched yet. */
  watchedDays?(by: NonNullable<Conditions['watched']>['by']): number | null
  /** Whether the video is among the newest that this rule refers to. */
  isNewest?(rule: number): boolean
  freeBytes?: number
}

export type Decision =
  /** The first rule that applies, and its conditions. */
  | { rule: CompiledRule; why: ConditionName[] }
  /** No rule applies. */
  | { rule: undefined }
  /** The decision depends on this unknown fact. */
  | { unknown: ConditionName }

type Test = (facts: Facts) => boolean | undefined

export interface CompiledRule {
  id: number
  scope: Scope
  outcome: Outcome
  quality?: Quality
  conditions: Conditions
  tests: Array<[name: ConditionName, test: Test]>
}

/** Compiles the rules that are on, in their order. @throws bad_request  a pattern that is not valid */
export function compile(rules: readonly Rule[]): CompiledRule[] {
  const texts = openTexts()
  return rules.filter(({ isOn }) => isOn).map((rule) => compileOne(rule, texts))
}

type Texts = Record<'title' | 'description', Comparisons>
const openTexts = (): Texts => ({ title: openComparisons(), description: openComparisons() })

/** Expensive conditions, which are compared after all others. */
const EXPENSIVE: readonly string[] = ['title', 'title_not', 'description', 'description_not']

/** @throws bad_request  a pattern that is not valid */
export function compileOne(
  { id, scope, outcome, quality, conditions }: Rule,
  texts: Texts = openTexts(),
): CompiledRule {
  const names = Object.keys(conditions) as ConditionName[]
  const tests = names
    .toSorted((one, other) => EXPENSIVE.indexOf(one) - EXPENSIVE.indexOf(other))
    .map((name): [ConditionName, Test] => [name, testOf(name, conditions, id, texts)])
  return { id, scope, outcome, conditions, tests, ...(quality && { quality }) }
}

/**
 * The first rule that applies wins. If a rule may apply depending on an unknown fact, the decision waits for this fact.
 * @param isFinal  no more facts will follow: an unknown fact then meets no condition
 */
export function decide(rules: readonly CompiledRule[], facts: Facts, isFinal: boolean): Decision {
  for (const rule of rules) {
    if (!facts.isIn(rule.scope)) continue
    const unknown = unmetOf(rule, facts)
    if (unknown === undefined) return { rule, why: rule.tests.map(([name]) => name) }
    if (unknown !== false && !isFinal) return { unknown }
  }
  return { rule: undefined }
}

/** false: the rule does not apply; a name: this fact is needed first; undefined: the rule applies. */
function unmetOf({ tests }: CompiledRule, facts: Facts): ConditionName | false | undefined {
  let unknown: ConditionName | undefined
  for (const [name, test] of tests) {
    const isMet = test(facts)
    if (isMet === false) return false
    if (isMet === undefined) unknown ??= name
  }
  return unknown
}

const known = <Value>(value: Value | undefined, isMet: (value: Value) => boolean): boolean | undefined =>
  value === undefined ? undefined : isMet(value)

function testOf(name: ConditionName, conditions: Conditions, rule: number, texts: Texts): Test {
  const text = (key: 'title' | 'description', wanted: Text, isWanted: boolean): Test => {
    const matches = texts[key].add(wanted, `conditions.${name}`)
    return (facts) => known(facts[key], (value) => matches(value) === isWanted)
  }
  const compare =
    (key: NumberFact, isMet: (value: number) => boolean): Test =>
    (facts) =>
      known(facts[key], isMet)
  const is = conditions as Required<Conditions>
  switch (name) {
    case 'title':
      return text('title', is.title, true)
    case 'title_not':
      return text('title', is.title_not, false)
    case 'description':
      return text('description', is.description, true)
    case 'description_not':
      return text('description', is.description_not, false)
    case 'longer_than':
      return compare('seconds', (value) => value > is.longer_than)
    case 'shorter_than':
      return compare('seconds', (value) => value < is.shorter_than)
    case 'published_within':
      return compare('publishedDays', (value) => value <= is.published_within)
    case 'published_before':
      return compare('publishedDays', (value) => value > is.published_before)
    case 'published_before_day':
      return ({ published }) => known(published, (day) => day.slice(0, 10) < is.published_before_day)
    case 'kinds':
      return ({ kind, isPremiere }) => {
        if (kind === undefined) return undefined
        if ((is.kinds as readonly string[]).includes(kind)) return true
        return is.kinds.includes('premieres') && kind === 'videos' ? isPremiere : false
      }
    case 'availability':
      return ({ availability }) =>
        known(availability, (value) => (is.availability as readonly string[]).includes(value))
    case 'languages':
      return ({ language }) => known(language, (value) => is.languages.includes(value.split('-')[0]!.toLowerCase()))
    case 'subtitles':
      return ({ hasSubtitles }) => known(hasSubtitles, (value) => value === is.subtitles)
    case 'height_from':
      return compare('height', (value) => value >= is.height_from)
    case 'height_below':
      return compare('height', (value) => value < is.height_below)
    case 'views_from':
      return compare('views', (value) => value >= is.views_from)
    case 'views_below':
      return compare('views', (value) => value < is.views_below)
    case 'larger_than':
      return compare('bytes', (value) => value > is.larger_than)
    case 'smaller_than':
      return compare('bytes', (value) => value < is.smaller_than)
    case 'added_before':
      return compare('addedDays', (value) => value > is.added_before)
    case 'watched':
      return ({ watchedDays }) => {
        const days = watchedDays?.(is.watched.by)
        return days === undefined ? undefined : days !== null && days > is.watched.days
      }
    case 'not_watched':
      return ({ watchedDays }) => known(watchedDays?.('anyone'), (days) => (days === null) === is.not_watched)
    case 'newest':
    case 'not_newest':
      return ({ isNewest }) => known(isNewest?.(rule), (isAmong) => isAmong === (name === 'newest'))
    case 'on_platform':
      return ({ isOnPlatform }) => known(isOnPlatform, (value) => value === is.on_platform)
    case 'free_below':
      return compare('freeBytes', (value) => value < is.free_below)
  }
}

type NumberFact = 'seconds' | 'publishedDays' | 'height' | 'views' | 'bytes' | 'addedDays' | 'freeBytes'
