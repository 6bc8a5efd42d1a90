/** What somebody wants of a new subscription, besides how it begins: what is left out, and what stays. */
import { type Static, Type, type Words } from 'archivolt'

const Phrases = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 50 })
const Keep = Type.Union([
  Type.Object({ newest: Type.Integer({ minimum: 1, maximum: 1000 }) }, { additionalProperties: false }),
  Type.Object({ days: Type.Integer({ minimum: 1, maximum: 36_500 }) }, { additionalProperties: false }),
  Type.Object({ until: Type.Literal('watched') }, { additionalProperties: false }),
])

export const Wishes = Type.Object(
  {
    skip_kinds: Type.Optional(Type.Array(Type.Enum(['shorts', 'streams']), { minItems: 1, uniqueItems: true })),
    skip_shorter_than: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'seconds' })),
    only_titles: Type.Optional(Phrases),
    skip_titles: Type.Optional(Phrases),
    keep: Type.Optional(Keep),
  },
  { additionalProperties: false },
)
export type Wishes = Static<typeof Wishes>

/** What other programs know besides. Patterns are as they have them. */
export interface ForeignWishes extends Omit<Wishes, 'skip_kinds'> {
  skip_kinds?: Array<'videos' | 'shorts' | 'streams'>
  only_pattern?: string
  skip_pattern?: string
  skip_longer_than?: number
  /** YYYY-MM-DD */
  skip_published_before?: string
  /** Days. */
  skip_older_than?: number
  /** Of all that is not skipped. */
  quality?: { quality_height?: number; quality_codec?: 'sound' }
}

/** How many rules are new, and which wishes cannot be had. */
export interface Wished {
  added: number
  refused: Array<{ wish: keyof ForeignWishes; reason: Words }>
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked when a channel or playlist is subscribed to, before the first look at it, and when another program's
     * settings are imported; perhaps twice for the same wishes.
     */
    'download.wishes': (of: { kind: 'channel' | 'playlist'; id: string }, wishes: ForeignWishes) => Promise<Wished>
  }
}
