/**
 * The search syntax (contract 7), as far as the page uses it: parses a query, changes it by clicks, and writes it
 * again.
 */

export const SEARCH_TYPES = ['simple', 'video', 'channel', 'playlist', 'full', 'comment'] as const
type SearchType = (typeof SEARCH_TYPES)[number]

const KEYWORDS: Record<SearchType, readonly string[]> = {
  simple: ['fuzzy'],
  video: ['channel', 'active', 'fuzzy'],
  channel: ['active', 'subscribed', 'fuzzy'],
  playlist: ['active', 'subscribed', 'fuzzy'],
  full: ['lang', 'source', 'channel', 'fuzzy'],
  comment: ['channel', 'fuzzy'],
}

export interface Asked {
  type: SearchType
  /** As typed. */
  term: string
  filters: Array<[keyword: string, value: string]>
}

const PREFIXED = /^([a-z]+):(.*)$/is

export function readSearch(text: string): Asked {
  const [first = '', ...later] = text.trim().split(/\s+/)
  const [, keyword = '', rest = ''] = PREFIXED.exec(first) ?? []
  const primary = SEARCH_TYPES.find((known) => known === keyword.toLowerCase())
  const type = primary ?? 'simple'
  const term = [primary ? rest : first]
  const filters: Array<[string, string[]]> = []
  let open = term
  for (const word of later) {
    const [, name = '', value = ''] = PREFIXED.exec(word) ?? []
    if (!KEYWORDS[type].includes(name.toLowerCase())) {
      open.push(word)
      continue
    }
    open = [value]
    filters.push([name.toLowerCase(), open])
  }
  const joined = (words: string[]) => words.filter(Boolean).join(' ')
  return { type, term: joined(term), filters: filters.map(([name, words]) => [name, joined(words)]) }
}

export const writeSearch = ({ type, term, filters }: Asked): string =>
  [type === 'simple' ? term : `${type}:${term}`, ...filters.map(([name, value]) => `${name}:${value}`)]
    .filter(Boolean)
    .join(' ')

/** The same search for another kind, without the filters that this kind does not support. */
export const ofType = ({ term, filters }: Asked, type: SearchType): Asked => ({
  type,
  term,
  filters: filters.filter(([name]) => KEYWORDS[type].includes(name)),
})

export interface Span {
  text: string
  isMarked: boolean
}

const MARK = /<span class="settings-current">([^<]*)<\/span>/g
const SIGNS: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const asText = (escaped: string): string => escaped.replace(/&(?:amp|lt|gt|quot|#39);/g, (sign) => SIGNS[sign]!)

/** Maximum length of the text before the first mark. A longer one is cut at its start, so that the mark is visible. */
const MOST_BEFORE = 90

/** Splits a line at the API's marks into plain texts. Nothing in it is interpreted as HTML. */
export function readMarked(line: string): Span[] {
  const spans: Span[] = []
  let from = 0
  for (const found of line.matchAll(MARK)) {
    spans.push(
      { text: asText(line.slice(from, found.index)), isMarked: false },
      { text: asText(found[1]!), isMarked: true },
    )
    from = found.index + found[0].length
  }
  spans.push({ text: asText(line.slice(from)), isMarked: false })
  const [first] = spans
  if (spans.length > 1 && first && first.text.length > MOST_BEFORE) {
    const cut = first.text.indexOf(' ', first.text.length - MOST_BEFORE)
    first.text = `… ${first.text.slice(cut === -1 ? -MOST_BEFORE : cut + 1)}`
  }
  return spans.filter(({ text }) => text !== '')
}

/** `00:01:02.500` → 62 */
export const toSeconds = (time: string): number =>
  Math.floor(time.split(':').reduce((sum, part) => sum * 60 + Number(part), 0)) || 0
