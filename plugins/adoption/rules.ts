/**
 * Converts settings of another program to rules: what its sources leave out, how long videos stay, and their quality.
 */
import { defineRoute, errors, inEnglish, say, Type, type Words } from 'archivolt'
import type { Wishes } from '../download/wishes.ts'
import type { App } from './app.ts'
import type { Setting } from './catalogs/types.ts'
import { AdoptionId } from './item-routes.ts'

const DAY_SECONDS = 86_400
const LONGEST_DAYS = 36_500
const KINDS = ['videos', 'shorts', 'streams'] as const

type Settings = Partial<Record<string, string>>

/** The wish for each key of a setting; undefined: the value has no equivalent. */
const WISHES: Record<string, (value: string) => Wishes | undefined> = {
  titles: (pattern) => titled(pattern, true),
  not_titles: (pattern) => titled(pattern, false),
  shortest: (seconds) => numbered(seconds, (skip_shorter_than) => ({ skip_shorter_than })),
  longest: (seconds) => numbered(seconds, (skip_longer_than) => ({ skip_longer_than })),
  since: (day) => (/^\d{4}-\d{2}-\d{2}/.test(day) ? { skip_published_before: day.slice(0, 10) } : undefined),
  newest: (seconds) =>
    numbered(seconds, (age) => ({ skip_older_than: Math.min(Math.ceil(age / DAY_SECONDS), LONGEST_DAYS) })),
  kept_for: (days) => numbered(days, (count) => ({ keep: { days: Math.min(count, LONGEST_DAYS) } })),
  quality: (value) =>
    value === 'audio'
      ? { quality: { quality_codec: 'sound' } }
      : numbered(/^(\d{3,4})p?$/.exec(value)?.[1] ?? '', (lines) => ({ quality: { quality_height: lines } })),
}

/**
 * The wish for a pattern. These programs write "without word" as `^(?!.*word)`; rules do not need look-ahead for this.
 */
function titled(pattern: string, isWanted: boolean): Wishes {
  const [, flags = '', isAnywhere, inner] =
    /^(\(\?[a-z]+\))?\^\(\?!(\.\*\??)?([^()]*|\([^()?][^()]*\))\)(?:\.[*+])?\$?$/.exec(pattern) ?? []
  if (inner === undefined) return isWanted ? { only_pattern: pattern } : { skip_pattern: pattern }
  const positive = `${flags}${isAnywhere ? '' : '^'}(?:${inner})`
  return isWanted ? { skip_pattern: positive } : { only_pattern: positive }
}

function numbered(text: string, toWish: (value: number) => Wishes): Wishes | undefined {
  const value = Math.round(Number(text))
  return text !== '' && value > 0 && Number.isSafeInteger(value) ? toWish(value) : undefined
}

/** `exclude` leaves a kind out; `only` leaves out all kinds that are not listed. */
function skippedKinds(set: Settings): Wishes['skip_kinds'] {
  const only = KINDS.filter((kind) => set[kind] === 'only')
  const skipped = KINDS.filter((kind) => (only.length > 0 ? !only.includes(kind) : set[kind] === 'exclude'))
  return skipped.length > 0 ? skipped : undefined
}

interface Left {
  of: string
  key: string
  value: string
  reason: string
}

async function becomeRules(settings: readonly Setting[], app: App): Promise<{ added: number; left: Left[] }> {
  const found: { added: number; left: Left[] } = { added: 0, left: [] }
  const leave = ({ of, key, value }: Setting, reason: Words) =>
    void found.left.push({ of, key, value, reason: inEnglish(reason) })
  const sources = new Map<string, Setting[]>()
  for (const setting of settings) {
    const { kind, id } = setting
    if (kind === undefined || id === undefined) leave(setting, UNKNOWN)
    else sources.set(`${kind} ${id}`, [...(sources.get(`${kind} ${id}`) ?? []), setting])
  }
  for (const own of sources.values()) {
    const kinds = skippedKinds(Object.fromEntries(own.map(({ key, value }) => [key, value])))
    const wishes: Wishes = kinds ? { skip_kinds: kinds } : {}
    const keys = new Map<string, Setting>()
    for (const setting of own) {
      const isOfKind = setting.key === 'shorts' || setting.key === 'streams'
      const wish = isOfKind ? {} : WISHES[setting.key]?.(setting.value)
      if (!wish) leave(setting, MEANINGLESS)
      for (const name of Object.keys(wish ?? {})) keys.set(name, setting)
      Object.assign(wishes, wish)
    }
    const { kind, id } = own[0]!
    for (const ask of app.hook('download.wishes')) {
      const { added, refused } = await ask({ kind: kind!, id: id! }, wishes)
      found.added += added
      for (const { wish, reason } of refused) leave(keys.get(wish) ?? own[0]!, reason)
    }
  }
  return found
}

const UNKNOWN = say`This channel or playlist is unknown`
const MEANINGLESS = say`This cannot be expressed as a rule`

export const makeRules = defineRoute({
  method: 'POST',
  path: '/api/adoption/:adoptionId/rules/',
  access: 'admin',
  summary: 'Create rules from the settings of the other program; existing rules are not duplicated',
  params: AdoptionId,
  reply: Type.Object({
    added: Type.Integer({ minimum: 0 }),
    left: Type.Array(
      Type.Object({ of: Type.String(), key: Type.String(), value: Type.String(), reason: Type.String() }),
      { description: 'settings that cannot be expressed as rules, and why' },
    ),
  }),
  errors: ['bad_request', 'not_found'],
  async handle({ params }, app: App) {
    if (app.hook('download.wishes').length === 0)
      throw errors.badRequest('Wishes need the plugin rules, which this server was started without')
    return becomeRules(JSON.parse(app.adoptions.get(Number(params.adoptionId)).settings), app)
  },
})
