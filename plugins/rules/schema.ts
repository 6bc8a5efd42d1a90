/** Rules as people write them: scope, conditions, outcome (contract 9.27). */
import { ID_PATTERN, type Static, Type } from 'archivolt'

export const SIDES = ['take', 'keep'] as const
export type Side = (typeof SIDES)[number]

export const OUTCOMES = { take: ['take', 'skip', 'ignore'], keep: ['keep', 'remove', 'fetch'] } as const
export type Outcome = 'take' | 'skip' | 'ignore' | 'keep' | 'remove' | 'fetch'

export const Scope = Type.Union([
  Type.Object({ kind: Type.Literal('all') }, { additionalProperties: false }),
  Type.Object(
    { kind: Type.Enum(['channel', 'playlist']), id: Type.String({ pattern: ID_PATTERN }) },
    { additionalProperties: false },
  ),
  Type.Object({ kind: Type.Literal('group'), id: Type.Integer({ minimum: 1 }) }, { additionalProperties: false }),
])
export type Scope = Static<typeof Scope>

const LONGEST_PATTERN = 300
const Words = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 50 })
/** Words or phrases, or a pattern. */
export const Text = Type.Union([
  Type.Object({ words: Words }, { additionalProperties: false }),
  Type.Object({ pattern: Type.String({ minLength: 1, maxLength: LONGEST_PATTERN }) }, { additionalProperties: false }),
])
export type Text = Static<typeof Text>

const Days = Type.Integer({ minimum: 0, maximum: 36_500 })
const Day = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' })
const Seconds = Type.Integer({ minimum: 0, maximum: 10_000_000 })
const Bytes = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const Height = Type.Integer({ minimum: 1, maximum: 100_000 })
const Views = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** `premieres`: videos that were first shown as a premiere; only a video's metadata contains this, listings do not. */
const KINDS = ['videos', 'shorts', 'streams', 'premieres'] as const
const AVAILABILITIES = ['public', 'unlisted', 'members_only', 'premium', 'sign_in', 'private'] as const
const WATCHED_BY = ['anyone', 'everyone', 'admins'] as const

const Newest = Type.Object(
  {
    count: Type.Integer({ minimum: 0, maximum: 1000 }),
    of: Type.Optional(
      Type.Enum(['scope', 'channel'], { description: 'in the whole scope (default), or in each of its channels' }),
    ),
  },
  { additionalProperties: false },
)

/** Conditions for both sides. */
const common = {
  title: Text,
  title_not: Text,
  description: Text,
  description_not: Text,
  longer_than: Seconds,
  shorter_than: Seconds,
  published_within: Days,
  published_before: Days,
  published_before_day: Day,
  kinds: Type.Array(Type.Enum([...KINDS]), { minItems: 1, uniqueItems: true }),
  languages: Type.Array(Type.String({ pattern: '^[a-z]{2,3}$' }), { minItems: 1, maxItems: 50, uniqueItems: true }),
  subtitles: Type.Boolean(),
  height_from: Height,
  height_below: Height,
  views_from: Views,
  views_below: Views,
  larger_than: Bytes,
  smaller_than: Bytes,
}
/** Conditions on facts that only the platform's listings and replies contain. */
const ofTaking = {
  availability: Type.Array(Type.Enum([...AVAILABILITIES]), { minItems: 1, uniqueItems: true }),
}
/** Conditions on facts that only the archive contains. */
const ofKeeping = {
  added_before: Days,
  watched: Type.Object({ by: Type.Optional(Type.Enum([...WATCHED_BY])), days: Days }, { additionalProperties: false }),
  not_watched: Type.Boolean(),
  newest: Newest,
  not_newest: Newest,
  on_platform: Type.Boolean(),
  free_below: Bytes,
}
export const Conditions = Type.Partial(Type.Object({ ...common, ...ofTaking, ...ofKeeping }), {
  additionalProperties: false,
})
export type Conditions = Static<typeof Conditions>
export type ConditionName = keyof Conditions

export const CONDITIONS_OF: Record<Side, ReadonlySet<string>> = {
  take: new Set(Object.keys({ ...common, ...ofTaking })),
  keep: new Set(Object.keys({ ...common, ...ofKeeping })),
}

/** Conditions on facts that a listing does not contain: the platform is asked once, before the download. */
export const ASKED: ReadonlySet<string> = new Set([
  ...[
    'description',
    'description_not',
    'published_within',
    'published_before',
    'published_before_day',
    'languages',
    'subtitles',
  ],
  ...['height_from', 'height_below', 'views_from', 'views_below', 'larger_than', 'smaller_than'],
])
/** Conditions of a taking rule whose facts are known only after the platform was asked. */
export const askedFor = (conditions: Conditions): ConditionName[] =>
  (Object.keys(conditions) as ConditionName[]).filter(
    (name) => ASKED.has(name) || (name === 'kinds' && conditions.kinds?.includes('premieres')),
  )

export const Quality = Type.Object(
  {
    quality_height: Type.Optional(Type.Integer({ minimum: 144, maximum: 4320 })),
    quality_codec: Type.Optional(Type.Enum(['best', 'compatible', 'smallest', 'sound'])),
  },
  { additionalProperties: false },
)
export type Quality = Static<typeof Quality>

/** A stored rule. */
export interface Rule {
  id: number
  side: Side
  scope: Scope
  conditions: Conditions
  outcome: Outcome
  quality?: Quality
  name: string
  isOn: boolean
  /** The setting that the rule represents: `all`, or the id of a channel. */
  setting?: string
  /** The account that wrote the rule; undefined: the rule represents a setting. */
  account?: number
}
