/** The marks and positions of all accounts for removed videos, as the bin stores them. */
import { faultIn, type Static, Type } from 'archivolt'
import type { OwnBelongings } from '../video/types.ts'
import type { WatchState } from './state.ts'

/** Marks are `[account, epoch seconds or null]`; positions `[account, seconds, duration, epoch milliseconds]`. */
const Stored = Type.Object({
  marks: Type.Array(Type.Tuple([Type.Integer(), Type.Union([Type.Integer(), Type.Null()])])),
  positions: Type.Array(Type.Tuple([Type.Integer(), Type.Number(), Type.Integer(), Type.Integer()])),
})
type Stored = Static<typeof Stored>

/** The same, with names instead of ids of accounts. */
const Named = Type.Object({
  marks: Type.Array(Type.Tuple([Type.Union([Type.Integer(), Type.String()]), Type.Unknown()])),
  positions: Type.Array(
    Type.Tuple([Type.Union([Type.Integer(), Type.String()]), Type.Unknown(), Type.Unknown(), Type.Unknown()]),
  ),
})

export function openWatchBelongings({ app, marks, positions, indexer, settling }: WatchState): OwnBelongings {
  return {
    of: 'watch',
    rows: ['watch_mark', 'watch_position'].map((table) => ({ table, id: (row) => `${row}.video_id` })),

    async collect(ids) {
      const found = new Map<string, Stored>()
      const of = (id: string) => found.get(id) ?? found.set(id, { marks: [], positions: [] }).get(id)!
      for (const { userId, videoId, at } of marks.ofVideos(ids)) of(videoId).marks.push([userId, at])
      for (const { userId, videoId, position, duration, updatedAt } of positions.ofVideos(ids))
        of(videoId).positions.push([userId, position, duration, updatedAt])
      return found
    },

    renamed(stored, as) {
      if (faultIn(Named, stored) !== undefined) return undefined
      const { marks: dated, positions: begun } = stored as Static<typeof Named>
      const named = <Rest extends unknown[]>([account, ...rest]: [number | string, ...Rest]) => {
        const other = as(account)
        return other === undefined ? [] : [[other, ...rest]]
      }
      return { marks: dated.flatMap(named), positions: begun.flatMap(named) }
    },

    async restore(stored, ids) {
      await app.ledger.write(() => {
        for (const [id, told] of stored) {
          if (faultIn(Stored, told) !== undefined) continue
          const { marks: dated, positions: begun } = told as Stored
          for (const [userId, at] of dated)
            if (app.accounts.get(userId)) marks.noteUnindexed(userId, marks.add(userId, [id], at))
          for (const [userId, position, duration, ms] of begun)
            if (app.accounts.get(userId) && !positions.get(userId, id))
              positions.set(userId, id, { position, duration }, ms)
        }
      })
      await indexer.run()
      // The documents may still contain accounts that were removed meanwhile.
      await settling.some(ids)
    },
  }
}
