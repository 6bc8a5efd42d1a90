/** The reference's recorded exchanges, and how one of them is sent to our server. */
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'

export interface Exchange {
  n: number
  group: string
  auth: string
  method: string
  path: string
  req_headers: Record<string, string>
  req_body: unknown
  status: number
  headers: Record<string, string>
  body: any
  note?: string
  /** A part of the reference had to be replaced for this recording: it shows the form, but no values. */
  patched?: string
}

export interface Answer {
  status: number
  headers: Record<string, string | string[] | undefined>
  /** Parsed JSON, else the text; null if there is none. */
  body: any
}

/** @param name  a file in test/data/recordings */
export function readText(name: string): string {
  const bytes = readFileSync(new URL(`../../data/recordings/${name}`, import.meta.url))
  return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
}

export const readExchanges = (name: string): Exchange[] =>
  readText(name)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Exchange)

/** Sends the recorded bytes: `fetch` would normalize the URL. */
export function ask(
  url: string,
  {
    method,
    path,
    headers,
    body,
  }: { method: string; path: string; headers: Record<string, string>; body?: string | Buffer },
): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const bytes = body === undefined ? undefined : Buffer.from(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        method,
        path: path.replaceAll(' ', '%20'),
        headers: { ...headers, ...(bytes && { 'content-length': bytes.length }) },
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const isJson = incoming.headers['content-type']?.startsWith('application/json')
          resolve({
            status: incoming.statusCode!,
            headers: incoming.headers,
            body: text === '' ? null : isJson ? JSON.parse(text) : text,
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

/**
 * Maps recorded values that differ in each run (a token, a task's id) to ours.
 * They are learned from the answers.
 */
export class Names {
  readonly #known = new Map<string, string>()

  learn(recorded: string, ours: string): void {
    this.#known.set(recorded, ours)
  }

  translate(text: string): string {
    let translated = text
    for (const [recorded, ours] of this.#known) translated = translated.replaceAll(recorded, ours)
    return translated
  }

  /** Both answers contain the id of the same thing: from now on the recorded one is replaced by ours. */
  learnFrom(recorded: unknown, ours: unknown): void {
    for (const key of ['task_id', 'snapshot_name']) {
      const [theirs, mine] = [findText(recorded, key), findText(ours, key)]
      if (theirs && mine && !this.#known.has(theirs)) this.learn(theirs, mine)
    }
  }
}

function findText(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const own = (value as Record<string, unknown>)[key]
  if (typeof own === 'string') return own
  for (const inner of Object.values(value)) {
    const found = findText(inner, key)
    if (found) return found
  }
  return undefined
}
