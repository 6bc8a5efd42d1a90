/** Describes rules in words: their outcomes, scopes and conditions. */
import type { Rule, RuleConditions } from '../server/records.ts'
import { toBytes, toDay, toLanguage, toSpan } from '../texts/format.ts'
import { LANGUAGE, t } from '../texts/lookup.ts'

export type ConditionName = keyof RuleConditions
type Text = NonNullable<RuleConditions['title']>

const lists = new Intl.ListFormat(LANGUAGE, { type: 'disjunction' })

export const kindName = (kind: NonNullable<RuleConditions['kinds']>[number]): string =>
  kind === 'premieres' ? t('rules.kind.premieres') : t(`home.type.${kind}`)
export const availabilityName = (one: NonNullable<RuleConditions['availability']>[number]): string =>
  t(`rules.availability.${one}`)

const textWords = (name: 'title' | 'title_not' | 'description' | 'description_not', text: Text): string =>
  'pattern' in text
    ? t(`rules.is.${name}.pattern`, { pattern: text.pattern })
    : t(`rules.is.${name}`, { words: lists.format(text.words.map((word) => `“${word}”`)) })

const WORDS: { [Name in ConditionName]-?: (value: NonNullable<RuleConditions[Name]>) => string } = {
  title: (text) => textWords('title', text),
  title_not: (text) => textWords('title_not', text),
  description: (text) => textWords('description', text),
  description_not: (text) => textWords('description_not', text),
  longer_than: (seconds) => t('rules.is.longer_than', { length: toSpan(seconds) }),
  shorter_than: (seconds) => t('rules.is.shorter_than', { length: toSpan(seconds) }),
  published_within: (count) => t('rules.is.published_within', { count }),
  published_before: (count) => t('rules.is.published_before', { count }),
  published_before_day: (day) => t('rules.is.published_before_day', { day: toDay(day) }),
  kinds: (kinds) => lists.format(kinds.map(kindName)),
  availability: (some) => lists.format(some.map(availabilityName)),
  languages: (codes) => t('rules.is.languages', { languages: lists.format(codes.map((code) => toLanguage(code))) }),
  subtitles: (isSo) => (isSo ? t('rules.is.subtitles') : t('rules.is.subtitles.not')),
  height_from: (lines) => t('rules.is.height_from', { lines }),
  height_below: (lines) => t('rules.is.height_below', { lines }),
  views_from: (count) => t('rules.is.views_from', { count }),
  views_below: (count) => t('rules.is.views_below', { count }),
  larger_than: (bytes) => t('rules.is.larger_than', { size: toBytes(bytes) }),
  smaller_than: (bytes) => t('rules.is.smaller_than', { size: toBytes(bytes) }),
  added_before: (count) => t('rules.is.added_before', { count }),
  watched: ({ by, days: count }) =>
    by === undefined ? t('rules.is.watched', { count }) : t(`rules.is.watched.${by}`, { count }),
  not_watched: (isSo) => (isSo ? t('rules.is.not_watched') : t('rules.is.not_watched.not')),
  newest: ({ count, of }) =>
    of === 'channel' ? t('rules.is.newest.channel', { count }) : t('rules.is.newest', { count }),
  not_newest: ({ count, of }) =>
    of === 'channel' ? t('rules.is.not_newest.channel', { count }) : t('rules.is.not_newest', { count }),
  on_platform: (isSo) => (isSo ? t('rules.is.on_platform') : t('rules.is.on_platform.not')),
  free_below: (bytes) => t('rules.is.free_below', { size: toBytes(bytes) }),
}

/** Each condition in words. */
export const conditionWords = (conditions: RuleConditions): string[] =>
  (Object.keys(conditions) as ConditionName[]).map((name) => {
    const inWords = WORDS[name] as (value: unknown) => string
    return inWords(conditions[name])
  })

const outcomeName = ({ outcome, quality }: Pick<Rule, 'outcome' | 'quality'>): string => {
  if (outcome !== 'take' || !quality) return t(`rules.outcome.${outcome}`)
  if (quality.quality_codec === 'sound') return t('rules.outcome.take.sound')
  return t('rules.outcome.take.as', {
    quality: [
      quality.quality_height && `${quality.quality_height}p`,
      quality.quality_codec && t(`channel.quality.codec.${quality.quality_codec}`),
    ]
      .filter(Boolean)
      .join(', '),
  })
}

export const scopeName = ({
  scope,
  scope_name: name,
  is_lost: isLost,
}: Pick<Rule, 'scope' | 'scope_name' | 'is_lost'>): string => {
  if (scope.kind === 'all') return t('rules.scope.all')
  return isLost ? t('rules.scope.lost', { id: String(scope.id) }) : name
}

/** A rule in words: `Skip: Shorts · shorter than 1 min` */
export const ruleWords = (rule: Pick<Rule, 'outcome' | 'quality' | 'conditions'>): string => {
  const conditions = conditionWords(rule.conditions)
  return `${outcomeName(rule)}: ${conditions.length > 0 ? conditions.join(' · ') : t('rules.is.any')}`
}

/** The rule's name; if it has none, the rule in words. */
export const ruleTitle = (rule: Rule): string => rule.name || `${scopeName(rule)}: ${ruleWords(rule)}`
