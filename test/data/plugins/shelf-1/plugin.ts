/** Shelf, first version: a plugin whose index is migrated by the second one. */
import { defineIndex, definePlugin, Type } from 'archivolt'

export const shelfIndex = defineIndex({
  name: 'shelf',
  doc: Type.Object({ title: Type.String(), place: Type.String(), year: Type.Integer(), code: Type.String(), labels: Type.Optional(Type.Array(Type.String())) }),
  fields: { title: { type: 'text', search: 1 }, place: { type: 'keyword', filter: true } },
})

export default definePlugin({ name: 'shelf', indexes: [shelfIndex] })
