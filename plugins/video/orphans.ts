/**
 * Removes comments and subtitles of missing videos: older servers could write them after a removal, and a restore may
 * contain them.
 */
import type { AggregateQuery, AggregateRow } from 'archivolt'
import type { VideoState } from './state.ts'
import type { Videos } from './types.ts'

/** The number of videos per lookup. */
const STEP = 500

export function openOrphans({ collection, comments, commentTexts, subtitles, exclusive }: VideoState) {
  return {
    /**
     * Reads only the ids of videos. Removes nothing if there is no video at all, because the videos have been lost
     * then.
     */
    async dropOrphans(signal) {
      if ((await collection.count(undefined, 1)) === 0) return 0
      const dropped = new Set<string>()
      for (const kind of [comments, commentTexts, subtitles]) {
        for await (const ids of videosOf(kind)) {
          signal?.throwIfAborted()
          const known = await collection.known(ids)
          for (const id of ids) {
            if (known.has(id)) continue
            await exclusive(id, async () => {
              if ((await collection.known([id])).has(id)) return // added meanwhile
              await kind.removeWhere({ eq: ['platform_id', id] })
              dropped.add(id)
            })
          }
        }
      }
      return dropped.size
    },
  } satisfies Partial<Videos>
}

async function* videosOf(kind: {
  aggregate(query: AggregateQuery<'platform_id'>): Promise<AggregateRow[]>
}): AsyncGenerator<string[]> {
  for (let last = ''; ; ) {
    const groups = await kind.aggregate({
      filter: { range: ['platform_id', { gt: last }] },
      groupBy: ['platform_id'],
      limit: STEP,
    })
    const ids = groups.map(({ key: [id] }) => String(id))
    if (ids.length === 0) return
    yield ids
    last = ids.at(-1)!
  }
}
