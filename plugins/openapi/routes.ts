/** The document and its page, each made once. */
import { bytes, defineRoute, json, Type, type App, type Registry } from 'archivolt'
import { toDocument } from './document.ts'
import { PAGE_POLICY, toPage } from './page.ts'

interface Made {
  schema: string
  page: string
}

/** Routes do not change while a server runs. */
const made = new WeakMap<Registry, Made>()

function describe(app: App): Made {
  let both = made.get(app.registry)
  if (!both) {
    const document = toDocument(app)
    both = { schema: JSON.stringify(document), page: toPage(document) }
    made.set(app.registry, both)
  }
  return both
}

export const showSchema = defineRoute({
  method: 'GET',
  path: '/api/schema/',
  access: 'user',
  summary: 'This API as an OpenAPI 3.1 document',
  reply: Type.Object({ openapi: Type.String(), info: Type.Unknown(), paths: Type.Record(Type.String(), Type.Unknown()) }),
  handle: (_input, app) => json(describe(app).schema),
})

export const showDocs = defineRoute({
  method: 'GET',
  path: '/api/docs/',
  access: 'user',
  summary: 'This API as a page',
  reply: Type.String(),
  replyType: 'text/html',
  handle({ headers }, app) {
    headers.set('Content-Security-Policy', PAGE_POLICY)
    return bytes(describe(app).page, 'text/html; charset=utf-8')
  },
})
