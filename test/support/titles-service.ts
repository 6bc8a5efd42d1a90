/** A stand-in for the community service for titles: it returns proposals by video for four digits of a hash. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { TestContext } from 'node:test'
import { listening } from './listening.ts'

export const prefixOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 4)

export async function startTitlesService(t: Pick<TestContext, 'after'>) {
  const proposals = new Map<string, { titles?: object[]; thumbnails?: object[] }>()
  const service = {
    proposals,
    /** Paths and queries of all requests. */
    asked: [] as string[],
    /** If set, the answer to every request. */
    instead: undefined as { status: number; body: string } | undefined,
    url: '',
  }
  const server = createServer(({ url = '' }, response) => {
    service.asked.push(url)
    const prefix = /^\/api\/branding\/([0-9a-f]{4})$/.exec(url)?.[1]
    const found = [...proposals].filter(([id]) => prefixOf(id) === prefix)
    const own = found.length > 0 ? { status: 200, body: JSON.stringify(answerOf(found)) } : { status: 404, body: '{}' }
    const { status, body } = service.instead ?? own
    response.writeHead(status, { 'content-type': 'application/json', location: '/elsewhere' }).end(body)
  })
  service.url = `http://${await listening(t as TestContext, server)}`
  return service
}

const answerOf = (found: Array<[string, object]>) =>
  Object.fromEntries(
    found.map(([id, own]) => [id, { titles: [], thumbnails: [], randomTime: 0.5, videoDuration: null, ...own }]),
  )
