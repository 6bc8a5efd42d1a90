/** Which index the documents of a data folder are kept in, and which one is being filled: a small file that starts and moves look at. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../error.ts'
import type { Log } from '../log.ts'
import { writeWhole } from '../whole-file.ts'

export type IndexKind = 'sqlite' | 'elasticsearch'

export interface InUse {
  /** Where a server kept them last, or a move has brought them. undefined: no server has run yet. */
  kind?: IndexKind
  /** A move to it has begun and not ended: what it holds is a mixture. */
  filling?: IndexKind
}

/** For people. */
export const NAMES: Record<IndexKind, string> = { sqlite: 'the embedded index', elasticsearch: 'Elasticsearch' }
/** As `index-move` calls them. */
export const TARGETS: Record<IndexKind, string> = { sqlite: 'embedded', elasticsearch: 'elasticsearch' }
const KINDS = new Set<unknown>(Object.keys(NAMES))

const fileIn = (dataDir: string): string => join(dataDir, 'index-in-use.json')

export async function readInUse(dataDir: string): Promise<InUse> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new StartError(`${fileIn(dataDir)} cannot be read (${error.code}): correct its permissions`, { cause: error })
  })
  try {
    const { kind, filling } = JSON.parse(text) as Record<string, unknown>
    if ([kind, filling].every((one) => one === undefined || KINDS.has(one))) return { ...(kind !== undefined && { kind: kind as IndexKind }), ...(filling !== undefined && { filling: filling as IndexKind }) }
  } catch {
    // Said below, with what is no object and what names no index.
  }
  throw new StartError(`${fileIn(dataDir)} does not say which index is in use: remove it, and set AV_ELASTICSEARCH_URL as it was when the server last ran`)
}

export const writeInUse = (dataDir: string, inUse: InUse): Promise<void> => writeWhole(fileIn(dataDir), `${JSON.stringify(inUse)}\n`)

/** A server is about to open this one. @throws StartError  a move has left it half filled */
export async function enterIndex(dataDir: string, kind: IndexKind, log: Log): Promise<void> {
  const { kind: last, filling } = await readInUse(dataDir)
  if (filling === kind) {
    const back = kind === 'sqlite' ? 'set AV_ELASTICSEARCH_URL again' : 'take AV_ELASTICSEARCH_URL away'
    throw new StartError(`A move of the documents to ${NAMES[kind]} was interrupted, so only some are there: finish it with make index-move TO=${TARGETS[kind]}, or ${back} to go on with ${NAMES[last ?? otherKind(kind)]}`)
  }
  if (last !== undefined && last !== kind) log.warn(`the documents were kept in ${NAMES[last]}; this start keeps them in ${NAMES[kind]}, and what only the other one has is not seen (make index-move TO=${TARGETS[kind]} brings it)`)
  if (last !== kind) await writeInUse(dataDir, { kind, ...(filling && { filling }) })
}

export const otherKind = (kind: IndexKind): IndexKind => (kind === 'sqlite' ? 'elasticsearch' : 'sqlite')
