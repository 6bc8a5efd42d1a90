/** The service `history`: changes on the platform since videos, channels and playlists were archived. */
import { epochSeconds, faultIn, type ToldRows, Type } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { OwnBelongings } from '../video/types.ts'
import type { App } from './app.ts'
import { openCanaries } from './doubts.ts'
import { openLossRows } from './loss-rows.ts'
import { openNumbers } from './numbers.ts'
import { openPictures } from './pictures.ts'
import { openRescues } from './rescue.ts'
import { KINDS, type Kind, openRows, PARTS, type Part } from './rows.ts'
import { rowOf } from './settle.ts'
import { isValue } from './values.ts'

export type History = ReturnType<typeof openHistory>

const Second = Type.Integer({ minimum: 0 })
const Count = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])
/** The form in which the bin stores the history of a subject. */
const StoredHistory = Type.Object({
  changes: Type.Array(
    Type.Object({ part: Type.Enum(PARTS), seenAt: Second, before: Type.Unknown(), after: Type.Unknown() }),
    { maxItems: 100_000 },
  ),
  numbers: Type.Array(Type.Object({ seen_at: Second, views: Count, second: Count }), { maxItems: 100_000 }),
  seen: Type.Record(Type.String(), Type.Unknown()),
})
export interface StoredHistory {
  changes: Array<{ part: Part; seenAt: number; before: unknown; after: unknown }>
  numbers: Array<{ seen_at: number; views: number | null; second: number | null }>
  seen: Record<string, unknown>
}

/**
 * The rows of this kind in the table of changes. Numbers need no entry, because they come with a refresh, which is an
 * event.
 */
const rowsOf = (kind: Kind): ToldRows => ({
  table: 'history_change',
  id: (row) => `iif(${row}.kind = ${KINDS.indexOf(kind)}, ${row}.subject, NULL)`,
})

export function openHistory(app: App) {
  const rows = openRows(app)
  const numbers = openNumbers(app)
  const pictures = openPictures(app)
  const losses = openLossRows(app)
  const rescues = openRescues(app)
  /** Channels that the platform has answered for within the last hour. */
  const answered = openAnswered(app)

  function collect(kind: Kind, id: string): StoredHistory | undefined {
    const stored: StoredHistory = {
      changes: rows.of(kind, id).map(({ part, seenAt, before, after }) => ({ part, seenAt, before, after })),
      numbers: numbers.all(kind, id),
      seen: rows.seen(kind, id) ?? {},
    }
    return stored.changes.length + stored.numbers.length + Object.keys(stored.seen).length > 0 ? stored : undefined
  }

  async function restore(kind: Kind, id: string, told: unknown): Promise<void> {
    if (faultIn(StoredHistory, told) !== undefined) return
    const { changes, numbers: points, seen } = told as StoredHistory
    await app.ledger.write(() => {
      // Keep changes that a refresh has written after the removal. All others are already present if a restore is
      // repeated.
      const newest = changes.reduce((latest, { seenAt }) => Math.max(latest, seenAt), 0)
      const later = rows.of(kind, id).filter(({ seenAt }) => seenAt > newest)
      rows.forgetChanges(kind, id)
      for (const change of [...changes, ...later])
        if (isValue(change.part, change.before) && isValue(change.part, change.after))
          rows.add({ kind, subject: id, ...change })
      for (const point of points) numbers.add(kind, id, point)
      if (!rows.seen(kind, id)) rows.setSeen(kind, id, seen)
    })
  }

  return {
    ...{ rows, numbers, pictures, losses, rescues, answered },
    canaries: openCanaries(app.clock),
    isDue: (): boolean => losses.isDue(epochSeconds(app.clock)) || rescues.due().length > 0,

    /** Their old pictures stay as long as they may be restored. */
    forget: (kind: Kind, ids: readonly string[]): Promise<void> =>
      app.ledger.write(() => {
        rows.forget(kind, ids)
        losses.forget(kind, ids)
        if (kind === 'channel') rescues.forget(ids)
      }),

    belongings: {
      of: 'history',
      rows: [rowsOf('video')],
      async collect(ids) {
        return new Map(
          ids.flatMap((id) => {
            const stored = collect('video', id)
            return stored ? [[id, stored] as const] : []
          }),
        )
      },
      async restore(stored, ids) {
        for (const [id, told] of stored) await restore('video', id, told)
        const docs = await app.videos.collection.getMany(ids)
        await app.ledger.write(() => {
          for (const [id, doc] of docs) if (doc.lost && !losses.get('video', id)) losses.put(rowOf(id, doc, 0, app))
        })
      },
    } satisfies OwnBelongings,

    channelBelongings: {
      of: 'history',
      rows: [rowsOf('channel')],
      collect: async (id) => collect('channel', id),
      restore: (id, told) => restore('channel', id, told),
    } satisfies OwnChannelBelongings,
  }
}

const ANSWERED_MS = 3_600_000

function openAnswered({ clock }: App) {
  const last = new Map<string, number>()
  const isOld = (atMs: number) => clock.steady() - atMs > ANSWERED_MS
  return {
    add(channel: string): void {
      for (const [one, atMs] of last) if (isOld(atMs)) last.delete(one)
      last.set(channel, clock.steady())
    },
    has: (channel: string): boolean => {
      const atMs = last.get(channel)
      return atMs !== undefined && !isOld(atMs)
    },
  }
}
