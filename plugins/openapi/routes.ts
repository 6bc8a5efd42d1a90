/** The description, its page and the page of the contract, each built once. */
import { readFile } from 'node:fs/promises'
import { type App, bytes, defineRoute, json, type Registry, Type } from 'archivolt'
import { toDocument } from './description.ts'

interface Made {
  schema: string
  page: string
}

const HTML = 'text/html; charset=utf-8'
const CONTRACT = new URL('contract.md', import.meta.url)
/** Loads the Markdown package at the first request, because it is rarely needed. */
const pages = () => import('./html.ts')
let contractPage: Promise<string> | undefined

/** The description is built once, because routes do not change while a server runs. */
const made = new WeakMap<Registry, Made>()

async function describe(app: App): Promise<Made> {
  let both = made.get(app.registry)
  if (!both) {
    const document = toDocument(app)
    both = { schema: JSON.stringify(document), page: (await pages()).toPage(document) }
    made.set(app.registry, both)
  }
  return both
}

export const showSchema = defineRoute({
  method: 'GET',
  path: '/api/schema/',
  access: 'user',
  summary: 'This API as an OpenAPI 3.1 document',
  reply: Type.Object({
    openapi: Type.String(),
    info: Type.Unknown(),
    paths: Type.Record(Type.String(), Type.Unknown()),
  }),
  handle: async (_input, app) => json((await describe(app)).schema),
})

export const showDocs = defineRoute({
  method: 'GET',
  path: '/api/docs/',
  access: 'user',
  summary: 'This API as a page',
  reply: Type.String(),
  replyType: 'text/html',
  async handle({ headers }, app) {
    headers.set('Content-Security-Policy', (await pages()).PAGE_POLICY)
    return bytes((await describe(app)).page, HTML)
  },
})

export const showContract = defineRoute({
  method: 'GET',
  path: '/api/docs/contract/',
  access: 'user',
  summary: 'What each endpoint means, as a page',
  reply: Type.String(),
  replyType: 'text/html',
  async handle({ headers }) {
    const { PAGE_POLICY, toContractPage } = await pages()
    headers.set('Content-Security-Policy', PAGE_POLICY)
    contractPage ??= readFile(CONTRACT, 'utf8').then(toContractPage)
    return bytes(await contractPage, HTML)
  },
})
