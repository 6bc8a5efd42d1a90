/** Schemas of the values of each part. Values from a disk are checked, because the bin and sidecars are files. */
import { faultIn, ID_PATTERN, Type } from 'archivolt'
import type { Part } from './rows.ts'

const Text = Type.String({ maxLength: 100_000 })
const Texts = Type.Array(Text, { maxItems: 10_000 })
const Title = Type.Object({ id: Type.String({ pattern: ID_PATTERN }), title: Text })
const Entries = Type.Array(Title, { maxItems: 100_000 })
const Chapters = Type.Array(Type.Object({ start: Type.Number({ minimum: 0 }), title: Text }), { maxItems: 10_000 })
const Picture = Type.Object({
  picture: Type.Enum(['video', 'thumb', 'banner', 'tvart']),
  file: Type.Optional(Type.String({ pattern: '^[0-9a-f]{16}$' })),
  hash: Type.Optional(Type.String({ pattern: '^[0-9a-f]{1,16}$' })),
})

const SCHEMAS = {
  ...{ title: Text, description: Text, name: Text, handle: Text, availability: Text },
  ...{ tags: Texts, category: Texts, captions: Texts },
  ...{ thumbnail: Picture, picture: Picture, length: Type.Number({ minimum: 0 }) },
  ...{ chapters: Chapters, entries: Entries },
} satisfies Record<Part, unknown>

export const isValue = (part: Part, value: unknown): boolean => faultIn(SCHEMAS[part], value) === undefined
