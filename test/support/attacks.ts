/**
 * Builds texts that make a regular expression work as hard as possible: its prefix, many repetitions, and an end that
 * it rejects.
 */
import ret, { type SetToken, type Set as SignSet, type Token, type Tokens, types } from 'ret'
import type { Pattern } from './patterns.ts'

/** The package's export differs from its types. */
const tokenize = ret as unknown as typeof ret.default

/** `text(size)` has about this many characters. */
export type Attack = (size: number) => string

/** One character of each kind that a character class may contain. */
const SIGNS = [...'aZ0 _-./:,;<>"\'&?=@#[](){}|\\+*~%!$^\t\n\r\0éß中アไ가\u0301\u200d\ud800']
const MOST_UNITS = 40
/** Rejected by almost every pattern. */
const END = '\n\u0001'

export function attacksOn(pattern: Pattern): Attack[] {
  const signs = [...new Set([...SIGNS, ...pattern.source])]
  const units = new Set<string>(signs.filter((sign) => pattern.source.includes(sign)))
  const pairs = new Set<string>() // prefix, unit
  collect(parse(pattern), '', signs, (before, unit) => {
    if (unit === '' || pairs.size >= MOST_UNITS) return
    units.add(unit)
    if (before !== '') {
      units.add(before).add(before + unit)
      pairs.add(JSON.stringify([before, unit]))
    }
  })
  const repeats = [...units].slice(0, MOST_UNITS).map((unit) => ['', unit])
  return [...repeats, ...[...pairs].map((pair) => JSON.parse(pair) as string[])].map(
    ([before = '', unit = '']) =>
      (size: number) =>
        before + unit.repeat(Math.ceil(size / unit.length)) + END,
  )
}

/**
 * The package supports neither lookbehind nor Unicode characters and classes: the former is removed, and a class is
 * replaced by one character of it.
 */
function parse({ source }: Pattern): Tokens {
  const known = source
    .replace(/\(\?<[=!](?:\\.|\[(?:\\.|[^\]\\])*\]|[^()[\\])*\)/g, '')
    .replace(/\\[pP]\{[^}]+\}/g, (kind) => SIGNS.find((sign) => new RegExp(`^${kind}$`, 'u').test(sign)) ?? 'a')
    .replace(/\\u(?:\{([0-9a-f]+)\}|([0-9a-f]{4}))/gi, (_, long?: string, short = '') =>
      String.fromCodePoint(Number.parseInt(long ?? short, 16)),
    )
  return tokenize(known)
}

type Take = (before: string, unit: string) => void

/**
 * Reports what each repetition repeats, with its prefix.
 * @returns one text that the tokens match
 */
function collect(token: Tokens, before: string, signs: string[], take: Take): string {
  switch (token.type) {
    case types.ROOT:
    case types.GROUP: {
      const options = token.options ?? [token.stack ?? []]
      const words = options.map((tokens) =>
        tokens.reduce((word, part) => word + collect(part, before + word, signs, take), ''),
      )
      const isAhead = token.type === types.GROUP && (token.followedBy || token.notFollowedBy)
      return isAhead ? '' : (words[0] ?? '')
    }
    case types.REPETITION: {
      const word = collect(token.value, before, signs, take)
      if (token.max > 20) for (const unit of new Set([word, ...variants(token.value, signs)])) take(before, unit)
      return token.min === 0 ? '' : word.repeat(Math.min(token.min, 8))
    }
    case types.SET:
      return matching(token, signs)[0] ?? ''
    case types.CHAR:
      return String.fromCodePoint(token.value)
    default:
      return ''
  }
}

/** More texts that one round of a repetition matches. */
function variants(token: Token, signs: string[]): string[] {
  if (token.type === types.SET) return matching(token, signs).slice(0, 12)
  if (token.type !== types.GROUP) return []
  const options = token.options ?? [token.stack ?? []]
  return options.map((tokens) => tokens.reduce((word, part) => word + collect(part, '', signs, () => undefined), ''))
}

const matching = (set: SignSet, signs: string[]): string[] => signs.filter((sign) => takes(set, sign.charCodeAt(0)))

function takes(token: SetToken, code: number): boolean {
  if (token.type === types.CHAR) return token.value === code
  if (token.type === types.RANGE) return token.from <= code && code <= token.to
  return token.set.some((part) => takes(part, code)) !== token.not
}
