/**
 * Shelf, second version: an additional field, a field that is now searched instead of filtered, and codes in another
 * form.
 */
import { defineIndex, definePlugin, defineRoute, listing, Type } from 'archivolt'

const Shelf = Type.Object({ title: Type.String(), place: Type.String(), year: Type.Integer(), code: Type.String(), labels: Type.Optional(Type.Array(Type.String())) })
let reformed = 0

export const shelfIndex = defineIndex({
  name: 'shelf',
  doc: Shelf,
  form: 'second',
  // Must not be applied to a document twice. A test may end the process halfway, as a power failure would.
  reform(doc) {
    if (++reformed === Number(process.env.SHELF_DIES_AT)) process.kill(process.pid, 'SIGKILL')
    return { ...doc, code: `second ${doc.code}` }
  },
  fields: { title: { type: 'text', search: 1 }, place: { type: 'text', search: 1 }, year: { type: 'long', filter: true, sort: true } },
})

const find = defineRoute({
  method: 'GET', path: '/api/shelf/', access: 'user', summary: 'Find', envelope: 'page',
  query: { q: Type.Optional(Type.String({ maxLength: 1000 })) }, reply: Shelf,
  async handle({ query: { q = '' }, page }, app) {
    const { hits, total } = await app.index.collection(shelfIndex).find({ text: { words: q }, sort: [{ by: 'year', order: 'desc' }], from: page.from, size: page.size })
    return listing(hits.map(({ text }) => text), total)
  },
})

export default definePlugin({ name: 'shelf', indexes: [shelfIndex], routes: [find] })
