/** The service `listings`: converts the platform's list of a channel or playlist to queue items. */
import type { JobContext } from 'archivolt'
import type { ListEntry, PlaylistEntryMetadata } from '../platform/types.ts'
import type { NewItem } from './add.ts'
import type { App } from './app.ts'

export interface Listings {
  ofChannel(channel: { id: string; name?: string | undefined }, entries: readonly ListEntry[]): NewItem[]
  /** Whether a listed video can be queued: not if it is unavailable or upcoming. */
  canBeQueued(entry: PlaylistEntryMetadata): boolean
  /** The items of all videos that can be queued. */
  ofPlaylist(entries: readonly PlaylistEntryMetadata[]): NewItem[]
  /**
   * Fetches pictures of one listing in advance, page by page, up to a limit. Resolves when those of all pages so far
   * have been fetched.
   */
  artAhead(job: Pick<JobContext<object>, 'log' | 'signal'>): (items: readonly NewItem[]) => Promise<void>
}

/**
 * Number of pictures per listing that are fetched in advance; the other videos show a placeholder until their download.
 */
const ART_AHEAD = 30

const canBeQueued = ({ isThere, isPending }: PlaylistEntryMetadata): boolean => isThere && !isPending

export const openListings = (app: Pick<App, 'media'>): Listings => ({
  ofChannel: (channel, entries) =>
    entries.map(({ id, title, durationSeconds = 0, vidType, thumbnail, isLimited = false, availability }) => ({
      ...{ id, title, durationSeconds, vidType, art: thumbnail, published: '', isLimited },
      ...(availability !== undefined && { availability }),
      channelId: channel.id,
      channelName: channel.name ?? '',
    })),

  canBeQueued,

  ofPlaylist: (entries) =>
    entries.filter(canBeQueued).map((entry) => {
      const {
        id,
        title,
        channelId = '',
        uploader,
        durationSeconds = 0,
        thumbnail,
        isLimited = false,
        availability,
      } = entry
      return {
        ...{ id, title, channelId, durationSeconds, art: thumbnail, published: '', isLimited },
        ...(availability !== undefined && { availability }),
        channelName: uploader ?? '',
        vidType: 'unknown',
      }
    }),

  artAhead({ log, signal }) {
    let left = ART_AHEAD
    let fetched = Promise.resolve()
    const fetchAll = async (pictured: readonly NewItem[]) => {
      try {
        for (const { id, art } of pictured)
          if (!(await app.media.hasArt('video', id))) await app.media.fetchArt('video', id, art!, signal)
      } catch (error) {
        signal.throwIfAborted()
        // Pictures are optional: no failure, not even a missing ffmpeg, prevents queueing.
        log.warn({ err: error }, 'pictures of new items could not be fetched')
      }
    }
    return (items) => {
      // Selected at once, because pages arrive faster than pictures, and unselected items must not wait in memory.
      const pictured = left > 0 ? items.filter(({ art }) => art).slice(0, left) : []
      left -= pictured.length
      if (pictured.length > 0) fetched = fetched.then(() => fetchAll(pictured))
      return fetched
    }
  },
})
