/** Imports marks and positions of accounts from another program, and reverts such an import. */
import { change } from './set-marks.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

export function openElsewhere(state: WatchState) {
  const { app, positions, indexer, marks } = state

  function untouchedBy(userId: number, ids: readonly string[]): Set<string> {
    const [watched, begun] = [marks.among(userId, ids), positions.among(userId, ids)]
    const touched = new Set([...watched.keys(), ...begun.map(({ id }) => id)])
    return new Set(ids.filter((id) => !touched.has(id)))
  }

  return {
    async takeOver(userId, told, signal) {
      const begun = told.filter(({ seconds }) => seconds !== undefined)
      const begunIds = begun.map(({ id }) => id)
      const docs = await app.videos.collection.getMany(begunIds)
      await app.ledger.write(() => {
        for (const { id, at } of told) if (at !== undefined) change(state, userId, [id], true, at)
        const free = untouchedBy(userId, begunIds)
        for (const { id, seconds = 0 } of begun) {
          const duration = docs.get(id)?.player.duration ?? 0
          const position = duration > 0 ? Math.min(seconds, duration) : seconds
          if (free.has(id) && position > 0) positions.set(userId, id, { position, duration })
        }
      })
      await indexer.run(signal)
    },

    async giveBack(userId, told, signal) {
      const ids = told.map(({ id }) => id)
      await app.ledger.write(() => {
        const [watched, begun] = [marks.among(userId, ids), positions.among(userId, ids)]
        for (const { id, at } of told)
          if (at !== undefined && watched.get(id) === at) change(state, userId, [id], false, at)
        const same = begun.filter(({ id, position, duration }) =>
          told.some(
            (one) =>
              one.id === id && one.seconds !== undefined && position === Math.min(one.seconds, duration || one.seconds),
          ),
        )
        positions.remove(
          userId,
          same.map(({ id }) => id),
        )
      })
      await indexer.run(signal)
    },

    untouchedBy,
  } satisfies Partial<Watch>
}
