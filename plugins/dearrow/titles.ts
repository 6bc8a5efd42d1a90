/**
 * The service `dearrow`: titles and times of thumbnails that the community proposes, stored in the video's document.
 */
import { epochSeconds } from 'archivolt'
import type { App } from './app.ts'
import { askForBranding } from './branding.ts'
import type { Pictures } from './pictures.ts'

interface DeArrow {
  isWanted(): boolean
  /** Requests the proposals for a video, and stores them in its document. @throws the error that prevents an answer */
  read(videoId: string, signal?: AbortSignal): Promise<void>
  /** Removes the stored proposals from all documents. */
  forget(signal: AbortSignal): Promise<void>
}

export function openDeArrow(app: App): DeArrow {
  const { collection } = app.videos
  const isWanted = () => app.preferences.section('dearrow').enabled
  return {
    isWanted,
    async read(videoId, signal) {
      const { title, thumbnail } = await askForBranding(app.settings.dearrowUrl, videoId, signal)
      const video = await app.videos.get(videoId)
      if (!video || !isWanted()) return
      const dearrow = {
        title: title === video.title ? null : (title ?? null),
        // A cut film has another scene at this time.
        thumbnail: thumbnail !== undefined && !video.cut && thumbnail < video.player.duration ? thumbnail : null,
        last_refresh: epochSeconds(app.clock),
      }
      await collection.patch(videoId, { set: { dearrow } }, { visible: true })
      if (dearrow.thumbnail !== (video.dearrow?.thumbnail ?? null)) await app.pictures.drop([videoId])
    },
    async forget(signal) {
      await collection.patchWhere({ exists: 'dearrow_read_at' }, { set: { dearrow: null } }, { signal, visible: true })
      await app.pictures.dropUnknown(async () => new Set())
      app.touch()
    },
  }
}

declare module 'archivolt' {
  interface Services {
    dearrow: {
      dearrow: DeArrow
      /** Thumbnails at the times that viewers propose. */
      pictures: Pictures
    }
  }
  interface Settings {
    /** Base URL of the service for titles and thumbnails, without a trailing slash. */
    dearrowUrl: string
  }
}
