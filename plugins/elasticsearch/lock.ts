/** A lock that lets only one of our servers build or replace indexes: a document that its holder updates regularly. */
import type { Clock, Log } from 'archivolt'
import type { ElasticConnection } from './connection.ts'

const ID = 'lock'
const TOUCH_EVERY_MS = 3_000
/** If the lock was not updated for this long, its holder is considered dead and the lock is taken over. */
const STALE_MS = 15_000
const POLL_EVERY_MS = 500

interface LockOptions {
  connection: ElasticConnection
  clock: Clock
  log: Log
  /** The lock's own index: no collection can have this name. */
  index: string
  /** Unchanged after a restart, so that a server's own earlier lock does not block it. */
  owner: string
}

interface Holding {
  owner: string
  touched: number
}

interface Seen {
  owner: string
  seqNo: number
  term: number
}

/** To be called before each write: the server would create a missing index with a mapping of its own. */
export async function makeLockIndex(client: ElasticConnection['client'], index: string): Promise<void> {
  if (await client.indices.exists({ index })) return
  const settings = { number_of_shards: 1, auto_expand_replicas: '0-1', hidden: true }
  const properties = { owner: { type: 'keyword' }, touched: { type: 'long' } } as const
  await client.indices.create({ index, settings, mappings: { dynamic: false, properties } }, { ignore: [400] })
}

/**
 * Waits for the lock, works, and releases it. The work's `signal` is aborted if another server has taken over the lock.
 */
export async function underLock<Result>(
  { connection, clock, log, index, owner }: LockOptions,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const lost = new AbortController()
  let held = await acquire()
  let isOver = false
  let touching: Promise<void> = Promise.resolve()
  let timer = clock.after(TOUCH_EVERY_MS, touch)

  function touch(): void {
    touching = put(held)
      // The update may have succeeded although its reply was lost: then the lock is still ours.
      .then(async (next) => next ?? (await readOwn()))
      .then((next) => {
        if (next) held = next
        else lost.abort(new Error('another server has taken over the work of this one on the index'))
      })
      // While the server is offline, nobody else can take over the lock.
      .catch((error: unknown) => log.debug({ err: error }, 'the lock of the index could not be renewed'))
      .finally(() => {
        if (!isOver && !lost.signal.aborted) timer = clock.after(TOUCH_EVERY_MS, touch)
      })
  }

  try {
    return await work(lost.signal)
  } finally {
    isOver = true
    timer.cancel()
    await touching
    const { seqNo: if_seq_no, term: if_primary_term } = held
    await connection.client
      .delete({ index, id: ID, if_seq_no, if_primary_term })
      .catch((error: unknown) =>
        log.debug({ err: error }, 'the lock of the index could not be released; it expires later'),
      )
  }

  async function acquire(): Promise<Seen> {
    let other: (Seen & { polledMs: number; unchangedMs: number }) | undefined
    let hasSaid = false
    for (;;) {
      const found = await read()
      if (!found || found.owner === owner) {
        const mine = await put(found)
        if (mine) return mine
        continue
      }
      if (!other || other.seqNo !== found.seqNo || other.term !== found.term)
        other = { ...found, polledMs: clock.steady(), unchangedMs: 0 }
      // The time during which the server was offline does not count, because the holder could not update the lock.
      other.unchangedMs += Math.min(clock.steady() - other.polledMs, 2 * POLL_EVERY_MS)
      other.polledMs = clock.steady()
      if (other.unchangedMs >= STALE_MS) {
        log.warn('the server that was updating the index has ended; this one continues')
        const mine = await put(found)
        if (mine) return mine
      }
      if (!hasSaid) log.info('another server is working on the index; waiting for it')
      hasSaid = true
      await clock.sleep(POLL_EVERY_MS)
    }
  }

  async function read(): Promise<Seen | undefined> {
    const found = await connection.run((client) => client.get<Holding>({ index, id: ID }, { ignore: [404] }))
    return found.found && found._source
      ? { owner: found._source.owner, seqNo: found._seq_no!, term: found._primary_term! }
      : undefined
  }

  async function readOwn(): Promise<Seen | undefined> {
    const found = await read()
    return found?.owner === owner ? found : undefined
  }

  /** @returns undefined: another server was faster */
  async function put(before: Seen | undefined): Promise<Seen | undefined> {
    const document: Holding = { owner, touched: clock.now() }
    const met = before ? { if_seq_no: before.seqNo, if_primary_term: before.term } : { op_type: 'create' as const }
    const done = await connection.run(async (client) => {
      await makeLockIndex(client, index)
      return client.index<Holding>({ index, id: ID, document, ...met }, { ignore: [409] })
    })
    return 'result' in done && done.result ? { owner, seqNo: done._seq_no!, term: done._primary_term! } : undefined
  }
}
