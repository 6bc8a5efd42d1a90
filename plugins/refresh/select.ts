/** Selects what a scheduled run refreshes: new documents, and a share of those refreshed longest ago (contract 9.8). */
import { type Collection, DAY_SECONDS, epochSeconds, type Filter, localDay } from 'archivolt'
import type { App } from './app.ts'
import type { Kind } from './queue.ts'

const NEW_DAYS = 3
const MOST_AT_ONCE = 9999

/** Number of documents to select, so that all are refreshed within `days`, with a margin of a fifth. */
export const shareOf = (total: number, days: number): number =>
  Math.min(MOST_AT_ONCE, Math.floor((Math.floor(total / days) + 1) * 1.2))

export async function selectOutdated(days: number, app: App): Promise<void> {
  const now = epochSeconds(app.clock)
  await addNewVideos(now, app)
  const before = now - days * DAY_SECONDS
  const add = async (kind: Kind, ids: Promise<string[]>) => app.refreshQueue.add(kind, await ids)
  await add('video', outdated(app.videos.collection, 'active', before, days))
  await add('channel', outdated(app.channels.collection, 'channel_active', before, days))
  await add('playlist', outdated(app.playlists.collection, 'playlist_active', before, days))
}

/** Adds new videos, because their counts and titles still change. */
async function addNewVideos(now: number, app: App): Promise<void> {
  const filter = {
    and: [{ eq: ['active', true] }, { range: ['published', { gte: localDay(now - NEW_DAYS * DAY_SECONDS) }] }],
  } satisfies Filter
  for await (const batch of app.videos.collection.scan({ filter: filter as Filter<'active' | 'published'> })) {
    await app.refreshQueue.add(
      'video',
      batch.map(({ id }) => id),
    )
  }
}

async function outdated<Names extends string>(
  collection: Pick<Collection<object, Names | 'refreshed_at'>, 'count' | 'find'>,
  active: Names,
  before: number,
  days: number,
): Promise<string[]> {
  const isActive: Filter<Names | 'refreshed_at'> = { eq: [active, true] }
  const size = shareOf(await collection.count(isActive, Infinity), days)
  const { hits } = await collection.find({
    // Includes refresh dates in the future, which come from a wrong clock: otherwise such a document would wait until
    // then.
    filter: {
      and: [
        isActive,
        {
          or: [
            { range: ['refreshed_at', { lt: before }] },
            { range: ['refreshed_at', { gt: before + (days + 1) * DAY_SECONDS }] },
          ],
        },
      ],
    },
    sort: [{ by: 'refreshed_at', order: 'asc' }],
    size,
    withoutTotal: true,
    withoutTexts: true,
  })
  return hits.map(({ id }) => id)
}
