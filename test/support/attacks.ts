/**
 * Texts that make a regular expression do as much as it can: what it repeats, after what it begins with, and no end
 * that it takes.
 */
import ret, { type SetToken, type Set as SignSet, type Token, type Tokens, types } from 'ret'
import type { Pattern } from './patterns.ts'

/** What the package exports, and what its types say of it, are not the same. */
const tokenize = ret as unknown as typeof ret.default

/** `text(size)` has about so many signs. */
export type Attack = (size: number) => string

/** Of each kind of sign that a class may be about. */
const SIGNS = [...'aZ0 _-./:,;<>"\'&?=@#[](){}|\\+*~%!$^\t\n\r\0éß中アไ가\u0301\u200d\ud800']
const MOST_UNITS = 40
/** What hardly any pattern takes. */
const END = '\n\u0001'

export function attacksOn(pattern: Pattern): Attack[] {
  const signs = [...new Set([...SIGNS, ...pattern.source])]
  const units = new Set<string>(signs.filter((sign) => pattern.source.includes(sign)))
  const pairs = new Set<string>() // before, unit
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
 * The package knows neither what looks behind, nor signs and classes of Unicode: the first takes no sign, of a class
 * one stands for all.
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

/** Tells of every repetition what it repeats and what stands before it. @returns one text that the tokens match */
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

/** Further texts that one round of a repetition takes. */
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
