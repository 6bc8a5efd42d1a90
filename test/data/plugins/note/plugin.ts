/** Notes: a complete external plugin, with an index, a task and routes. */
import { defineIndex, definePlugin, defineRoute, defineTask, listing, Type } from '@archivolt/plugin'

const Note = Type.Object({ text: Type.String({ maxLength: 1000 }) })
const notes = defineIndex({ name: 'note', doc: Note, fields: { text: { type: 'text', search: 1 } } })

const keepNote = defineTask({
  name: 'note.keep',
  title: 'Keep a note',
  payload: Type.Object({ noteId: Type.String(), text: Type.String() }),
  lane: 'light',
  resumable: true,
  async run({ payload: { noteId, text } }, app) {
    await app.index.collection(notes).put(noteId, { text }, { visible: true })
    return `Kept ${noteId}`
  },
})

const putNote = defineRoute({
  method: 'PUT', path: '/api/note/:noteId/', access: 'user', summary: 'Keep a note',
  params: Type.Object({ noteId: Type.String() }), body: Note, reply: Note,
  async handle({ params, body }, app) {
    await app.jobs.run(keepNote, { ...params, ...body })
    return body
  },
})

const findNotes = defineRoute({
  method: 'GET', path: '/api/note/', access: 'user', summary: 'Find notes', envelope: 'page',
  query: { q: Type.Optional(Type.String({ maxLength: 1000 })) }, reply: Note,
  async handle({ query: { q = '' }, page }, app) {
    const { hits, total } = await app.index.collection(notes).find({ text: { words: q }, from: page.from, size: page.size })
    return listing(hits.map(({ text }) => text), total)
  },
})

export default definePlugin({ name: 'note', api: 1, indexes: [notes], tasks: [keepNote], routes: [putNote, findNotes] })
