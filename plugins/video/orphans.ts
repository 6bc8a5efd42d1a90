/**
 * Comments and subtitles whose video is gone: an older server could write them after a removal, and a restore may bring
 * them.
 */
import type { CommentCollection } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Videos } from './types.ts'

/** So many videos are looked for at once. */
const STEP = 500

export function openOrphans({ collection, comments, subtitles, exclusive }: VideoState) {
  return {
    /** Only their ids are read. An archive without a single video has lost them otherwise: then nothing goes. */
    async dropOrphans(signal) {
      if ((await collection.count(undefined, 1)) === 0) return 0
      const dropped = new Set<string>()
      for (const kind of [comments, subtitles]) {
        for await (const ids of videosOf(kind)) {
          signal?.throwIfAborted()
          const known = await collection.known(ids)
          for (const id of ids) {
            if (known.has(id)) continue
            await exclusive(id, async () => {
              if ((await collection.known([id])).has(id)) return // has just come in
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

async function* videosOf(kind: Pick<CommentCollection, 'aggregate'>): AsyncGenerator<string[]> {
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
