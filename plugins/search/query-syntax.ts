/** Parses the search syntax (contract 7): the group, words and conditions that a text requests. */

export const QUERY_TYPES = ['simple', 'video', 'channel', 'playlist', 'full', 'comment'] as const
type QueryType = (typeof QUERY_TYPES)[number]

export interface Query {
  type: QueryType
  /** The search words; empty: only the conditions apply. */
  term: string
  active?: boolean
  subscribed?: boolean
  /** Words of the channel's name. */
  channel?: string
  lang?: string
  source?: string
  fuzziness: 0 | 1 | 2 | 'auto'
}

type Keyword = 'active' | 'subscribed' | 'channel' | 'lang' | 'source' | 'fuzzy'

const KEYWORDS: Record<QueryType, readonly Keyword[]> = {
  simple: ['fuzzy'],
  video: ['channel', 'active', 'fuzzy'],
  channel: ['active', 'subscribed', 'fuzzy'],
  playlist: ['active', 'subscribed', 'fuzzy'],
  full: ['lang', 'source', 'channel', 'fuzzy'],
  comment: ['channel', 'fuzzy'],
}

const PREFIXED = /^([a-z]+):(.*)$/su

/** The keyword and value of `keyword:value`, if the keyword is one of these. Only the first colon counts. */
function prefixed<Name extends string>(word: string, names: readonly Name[]): { name: Name; rest: string } | undefined {
  const [, keyword, rest = ''] = PREFIXED.exec(word) ?? []
  const name = names.find((known) => known === keyword)
  return name && { name, rest }
}

/** @param text  the typed text, not blank */
export function parseQuery(text: string): Query {
  const [first = '', ...later] = text.trim().toLowerCase().split(/\s+/)
  const primary = prefixed(first, QUERY_TYPES)
  const type = primary?.name ?? 'simple'
  const term = [primary ? primary.rest : first]
  const values = new Map<Keyword, string[]>()
  let open = term
  for (const word of later) {
    const secondary = prefixed(word, KEYWORDS[type])
    if (!secondary) {
      open.push(word)
      continue
    }
    open = [secondary.rest]
    values.set(secondary.name, open)
  }
  return { type, term: joined(term), ...conditions(values) }
}

const joined = (words: readonly string[]): string => words.filter(Boolean).join(' ')

function conditions(values: ReadonlyMap<Keyword, readonly string[]>): Omit<Query, 'type' | 'term'> {
  const firstOf = (keyword: Keyword) => values.get(keyword)?.find(Boolean)
  const [active, subscribed, lang, source] = [
    firstOf('active'),
    firstOf('subscribed'),
    firstOf('lang'),
    firstOf('source'),
  ]
  const channel = joined(values.get('channel') ?? [])
  return {
    ...(values.has('active') && { active: isYes(active) }),
    ...(values.has('subscribed') && { subscribed: isYes(subscribed) }),
    ...(channel && { channel }),
    ...(lang && { lang }),
    ...(source && { source }),
    fuzziness: toFuzziness(firstOf('fuzzy')),
  }
}

const isYes = (word: string | undefined): boolean => word === 'yes' || word === 'true'

function toFuzziness(word: string | undefined): Query['fuzziness'] {
  if (word === 'no') return 0
  if (word === undefined || !/^\d+$/.test(word)) return 'auto'
  const edits = Number(word)
  return edits === 0 ? 0 : edits === 1 ? 1 : 2
}
