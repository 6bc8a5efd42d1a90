/** Reads the state of Elasticsearch as the server reports it: its version, and problems of the whole server. */
import type { Client } from '@elastic/elasticsearch'
import { type Fault, faultOf, faultOfServer, lostIndex, withoutRequest } from './fault.ts'

const MAJOR = 8
const LOOK_TIMEOUT_MS = 5_000

export async function versionOf(client: Client): Promise<{ version: string } | { fault: Fault }> {
  try {
    const { version } = await client.info({}, { requestTimeout: LOOK_TIMEOUT_MS })
    if (Number(version.number.split('.')[0]) === MAJOR) return { version: version.number }
    return {
      fault: {
        kind: 'product',
        says: `Elasticsearch ${version.number} is not supported: Archivolt can store documents only in Elasticsearch ${MAJOR}`,
        why: version.number,
      },
    }
  } catch (error) {
    const fault = faultOf(error)
    if (!fault) throw withoutRequest(error)
    return { fault }
  }
}

/** Ids of index blocks by which somebody, or a full disk, has stopped all writes. */
const WRITE_BLOCKS = new Set(['5', '6', '8', '12', '13'])

/** @param aliases  all of them must exist. @returns undefined: healthy */
export async function inspect(client: Client, names: string, aliases: readonly string[]): Promise<Fault | undefined> {
  const brief = { requestTimeout: LOOK_TIMEOUT_MS }
  try {
    const health = await client.cluster.health(
      { index: names, master_timeout: '2s', timeout: '1s' },
      { ...brief, ignore: [408] },
    )
    if (health.status === 'red')
      return faultOfServer(503, {
        type: 'red',
        reason: `${health.unassigned_shards + health.initializing_shards} shards of ${names} are unavailable`,
      })
    const { blocks } = (await client.cluster.state(
      { index: names, metric: 'blocks', master_timeout: '2s', allow_no_indices: true, ignore_unavailable: true },
      brief,
    )) as { blocks?: Blocks }
    for (const active of [blocks?.global ?? {}, ...Object.values(blocks?.indices ?? {})]) {
      for (const [id, { description = '', retryable }] of Object.entries(active)) {
        if (WRITE_BLOCKS.has(id))
          return faultOfServer(429, { type: 'cluster_block_exception', reason: `FORBIDDEN/${id}/${description}` })
        if (retryable) return faultOfServer(503, { type: 'cluster_block_exception', reason: description })
      }
    }
    const missing = (await missingOf(client, aliases)).join(', ')
    return missing === '' ? undefined : lostIndex(missing, `the aliases ${missing} do not exist`)
  } catch (error) {
    const fault = faultOf(error)
    // If the account may not read the state, this does not mean that the server is offline.
    return fault?.kind === 'forbidden' || fault?.kind === 'busy'
      ? undefined
      : (fault ?? { kind: 'away', says: 'Elasticsearch sends answers that cannot be read', why: String(error) })
  }
}

async function missingOf(client: Client, aliases: readonly string[]): Promise<string[]> {
  if (aliases.length === 0) return []
  const found = await client.indices.getAlias(
    { name: [...aliases] },
    { requestTimeout: LOOK_TIMEOUT_MS, ignore: [404] },
  )
  // If one is missing, the reply also contains an error and a status.
  const there = new Set(Object.values(found).flatMap((each) => Object.keys(each.aliases ?? {})))
  return aliases.filter((alias) => !there.has(alias))
}

interface Blocks {
  global?: Record<string, { description?: string; retryable?: boolean }>
  indices?: Record<string, Record<string, { description?: string; retryable?: boolean }>>
}
