/** The download queue: what is asked for is resolved, waits, is downloaded and put into the library. */
import { definePlugin } from 'archivolt'
import { type AfterDownload, openAfterDownload } from './after-download.ts'
import { type Extras, extrasTables, openExtras, putOffTables } from './comments-and-subtitles.ts'
import { type DegradedVideos, openDegraded } from './degraded.ts'
import { extractDownload } from './extract.ts'
import { countByChannel, showParts } from './figures.ts'
import { type Listings, openListings } from './listed-items.ts'
import { type Looks, lookAtText, openLooks } from './look.ts'
import { downloads } from './preferences.ts'
import { fetchSubtitlesPutOff } from './put-off-subtitles.ts'
import { openDownloadQueue, type Queue } from './queue.ts'
import { queueTables } from './queue-tables.ts'
import { redownloadDegraded, redownloadTables } from './redownload.ts'
import { addToQueue, changeItem, changeMany, clearQueue, forgetItem, listQueue, showItem } from './routes.ts'
import { downloadPending } from './run.ts'
import { downloadFailed, type FailureNews, openFailureNews } from './tell-failed.ts'

export default definePlugin({
  name: 'download',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch'],
  migrations: [extrasTables, redownloadTables, putOffTables, queueTables],
  preferences: { downloads },
  envelope: (preferences) => ({ downloads: preferences.section('downloads') }),
  routes: [
    listQueue,
    addToQueue,
    clearQueue,
    changeMany,
    showItem,
    changeItem,
    forgetItem,
    countByChannel,
    showParts,
    lookAtText,
  ],
  tasks: [extractDownload, downloadPending, fetchSubtitlesPutOff, redownloadDegraded, downloadFailed],
  hooks: ['download.after', 'download.sift', 'download.begin', 'download.quality'],
  hookRules: {
    'download.after': { withinSeconds: 600, otherwise: () => undefined },
    'download.sift': { otherwise: () => new Map() },
    'download.begin': { withinSeconds: 600, otherwise: () => 'take' },
    'download.quality': { otherwise: () => undefined },
  },
  events: ['queue.changed', 'queue.asked', 'download.failed'],
  on: {
    // The queue is another one now: that of a backup, or of an older ledger.
    'index.replaced': (app) => () => app.media.sweepStaging(),
    'ledger.replaced': (app) => () => app.media.sweepStaging(),
    'downloader.changed': (app) => () => app.degraded.fetchSoon(),
    'download.failed': (app) => (failed) => {
      // What is only announced has not failed.
      if (failed.retryAt === undefined) app.failureNews.hear(failed)
    },
  },
  implements: {
    'platform.pending': (app) => async () => app.queue.waiting(),
    'platform.waiting': (app) => async () => app.queue.waitingByClass(),
    'platform.halted': (app) => () => app.queue.halted,
    'media.known': (app) => async (kind, id) => {
      await app.queue.isTakenOver()
      return kind === 'video' && app.queue.known([id]).has(id)
    },
    'media.titled': (app) => async (kind, id) => (kind === 'video' ? app.queue.get(id)?.title : undefined),
    'archive.documents': (app) => app.queue.documents,
    'media.staged': (app) => (ids) => app.queue.wantedAmong(ids),
    'channel.belongings': (app) => ({
      of: 'download',
      collect: async () => true,
      restore: (channelId) => app.queue.markChannel(channelId, true),
    }),
    'channel.remove': (app) => (channelId) => app.queue.markChannel(channelId, false),
  },
  services: (app) => ({
    queue: openDownloadQueue(app),
    listings: openListings(app),
    extras: openExtras(app),
    afterDownload: openAfterDownload(app),
    degraded: openDegraded(app),
    looks: openLooks(app),
    failureNews: openFailureNews(app),
  }),
  async setup(app) {
    await app.queue.isTakenOver()
    await app.extras.startPutOff()
  },
  close: (app) => app.failureNews.end(),
})

declare module 'archivolt' {
  interface Services {
    download: {
      /** What waits to be downloaded, and what may become of it (contract 9.3). */
      queue: Queue
      /** What the platform lists of a channel or a playlist, as items for the queue. */
      listings: Listings
      /** Comments and subtitles of videos, fetched as the preferences of downloads say. */
      extras: Extras
      /** What follows a download run: comments of the new videos, and what other plugins add. */
      afterDownload: AfterDownload
      /** Videos that came worse than they could be, and are fetched again. */
      degraded: DegradedVideos
      /** What ids and links stand for, before anything is queued. */
      looks: Looks
      /** Addresses outside that are told of failed downloads. */
      failureNews: FailureNews
    }
  }
}
