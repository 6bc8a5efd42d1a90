/** Short forms of videos: for the queue, for the locations of films, and for testing a new yt-dlp. */
import { channelIdOf } from './join-records.ts'
import type { VideoFilter } from './listing.ts'
import type { VideoDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { VideoOutline, Videos } from './types.ts'

/** Number of canaries: three are needed, but some may no longer exist. */
const MOST_CANARIES = 8

export function openOutlines({ app, collection }: VideoState) {
  return {
    async outline(id) {
      const doc = await collection.get(id)
      return doc && toOutline(id, doc, (await app.channels.names([doc.channel_id])).get(doc.channel_id))
    },

    async outlinesOf(ids) {
      const docs = await collection.getMany(ids)
      const names = await app.channels.names([...new Set([...docs.values()].map((doc) => doc.channel_id))])
      return [...docs].map(([id, doc]) => toOutline(id, doc, names.get(doc.channel_id)))
    },

    async *outlines(filter) {
      for await (const batch of collection.scan({ filter })) {
        const names = await app.channels.names([...new Set(batch.map(({ doc }) => doc.channel_id))])
        yield batch.map(({ id, doc }) => toOutline(id, doc, names.get(doc.channel_id)))
      }
    },

    async someFilms(atMost) {
      const { hits } = await collection.find({ size: atMost, withoutTotal: true })
      return hits
        .filter(({ id }) => app.media.isOurs(id))
        .map(({ id, text }) => ({ channelId: channelIdOf(text), videoId: id }))
    },

    async canaries() {
      const there: VideoFilter = { eq: ['active', true] }
      const sound: VideoFilter = { and: [there, { not: { eq: ['quality', 'degraded'] } }] }
      const newest = async (filter: VideoFilter) =>
        (await collection.find({ filter, size: MOST_CANARIES, withoutTotal: true })).hits
      const found = await newest(sound)
      return (found.length > 0 ? found : await newest(there)).map(({ id, text }) => {
        const { streams, receipt } = JSON.parse(text) as Pick<VideoDoc, 'streams' | 'receipt'>
        const heights = streams.map(({ width = 0, height = 0 }) => Math.min(width, height))
        return { id, height: receipt?.offered.height ?? Math.max(0, ...heights) }
      })
    },
  } satisfies Partial<Videos>
}

const toOutline = (id: string, doc: VideoDoc, channelName = ''): VideoOutline => ({
  id,
  title: doc.title,
  channelId: doc.channel_id,
  channelName,
  durationSeconds: doc.player.duration,
  published: doc.published,
  vidType: doc.vid_type,
  art: doc.art,
})
