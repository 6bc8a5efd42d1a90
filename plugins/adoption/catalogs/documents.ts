/**
 * Stores documents of a running Elasticsearch in a file with the format of a backup: a line with the name, then the
 * document.
 */
import { appendFileSync, createReadStream, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { isTooMany } from '../../film-kit/loose-json.ts'
import { objectOf, objectsOf, textOf } from '../../film-kit/values.ts'
import { NoCatalog } from './types.ts'

export const documentsIn = (own: string): string => join(own, 'documents.ndjson')
export const isDocuments = (path: string): boolean => /\/documents\.ndjson$/.test(path)

/**
 * Appends a page of a response.
 * @returns the number of documents, and where the next page begins; 0: the response has another format, or no document
 */
export function storeDocuments(own: string, text: string, isFirst: boolean): { count: number; after?: unknown[] } {
  mkdirSync(own, { recursive: true, mode: 0o700 })
  const path = documentsIn(own)
  if (isFirst) rmSync(path, { force: true })
  const bytes = Buffer.from(text)
  const found = isTooMany(bytes) ? [] : objectsOf(objectOf(objectOf(parsed(text)).hits).hits)
  const lines = found.map(({ _index, _id, _source }) => {
    const name = JSON.stringify({ index: { _index: textOf(_index), _id: textOf(_id) } })
    return `${name}\n${JSON.stringify(objectOf(_source))}\n`
  })
  appendFileSync(path, lines.join(''), { mode: 0o600 })
  const after = found.at(-1)?.sort
  return { count: found.length, ...(Array.isArray(after) && { after }) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** @throws NoCatalog: a line is not a document */
export async function* linesOfDocuments(path: string): AsyncGenerator<Record<string, unknown>> {
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const value = parsed(line)
    if (value === undefined) throw new NoCatalog('Its documents are damaged')
    yield objectOf(value)
  }
}
