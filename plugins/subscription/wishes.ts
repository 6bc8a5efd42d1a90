/** The wishes of a new subscription: which videos are skipped, and how long videos are kept (contract 9.27). */
import { type Static, Type } from 'archivolt'

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
