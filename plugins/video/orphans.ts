/**
 * Comments and subtitles whose video is gone: an older server could write them after a removal, and a restore may bring
 * them.
 */
import type { Collection, DocOf, NamesOf } from 'archivolt'
import type { commentIndex, subtitleIndex, videoIndex } from './schema.ts'

type Of<Definition extends typeof commentIndex | typeof subtitleIndex | typeof videoIndex> = Collection<
  DocOf<Definition>,
  NamesOf<Definition>
>

export interface Parts {
  collection: Pick<Of<typeof videoIndex>, 'known' | 'count'>
  comments: Of<typeof commentIndex>
  subtitles: Of<typeof subtitleIndex>
  exclusive(id: string, work: () => Promise<unknown>): Promise<unknown>
}

/** So many videos are looked for at once. */
const STEP = 500

/** Only their ids are read. An archive without a single video has lost them otherwise: then nothing goes. */
export async function dropOrphans(
  { collection, comments, subtitles, exclusive }: Parts,
  signal?: AbortSignal,
): Promise<number> {
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
}

async function* videosOf(kind: Pick<Parts['comments'], 'aggregate'>): AsyncGenerator<string[]> {
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
