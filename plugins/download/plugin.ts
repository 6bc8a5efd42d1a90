/** The download queue: resolves requested targets, downloads waiting items and adds them to the library. */
import { definePlugin } from 'archivolt'
import { type AfterDownload, openAfterDownload } from './after-download.ts'
import { type Extras, extrasTables, openExtras, putOffTables, putOffTries } from './comments-and-subtitles.ts'
import { type DegradedVideos, openDegraded } from './degraded.ts'
import { extractDownload } from './extract.ts'
import { countByChannel, showParts } from './figures.ts'
import { type Listings, openListings } from './listed-items.ts'
import { downloads } from './preferences.ts'
import { type LinkPreviews, openLinkPreviews, previewText } from './preview.ts'
import { fetchPostponedSubtitles } from './put-off-subtitles.ts'
import { openDownloadQueue, type Queue } from './queue.ts'
import { queueTables } from './queue-tables.ts'
import { redownloadDegraded, redownloadTables } from './redownload.ts'
import {
  addToQueue,
  changeItem,
  changeMany,
  clearQueue,
  forgetItem,
  listQueue,
  restoreItems,
  showItem,
} from './routes.ts'
import { downloadPending } from './run.ts'
import { downloadFailed, type FailureNews, openFailureNews } from './tell-failed.ts'
import { undoTables } from './undoing.ts'

export default definePlugin({
  name: 'download',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'watch'],
  migrations: [extrasTables, redownloadTables, putOffTables, queueTables, undoTables, putOffTries],
  preferences: { downloads },
  envelope: (preferences) => ({ downloads: preferences.section('downloads') }),
  routes: [
    listQueue,
    addToQueue,
    clearQueue,
    changeMany,
    restoreItems,
    showItem,
    changeItem,
    forgetItem,
    countByChannel,
    showParts,
    previewText,
  ],
  tasks: [extractDownload, downloadPending, fetchPostponedSubtitles, redownloadDegraded, downloadFailed],
  hooks: ['download.after', 'download.sift', 'download.begin', 'download.quality', 'download.wishes'],
  hookRules: {
    'download.after': { withinSeconds: 600, otherwise: () => undefined },
    'download.sift': { otherwise: () => new Map() },
    'download.begin': { withinSeconds: 600, otherwise: () => 'take' },
    'download.quality': { isSync: true, otherwise: () => undefined },
  },
  events: ['queue.changed', 'queue.asked', 'download.failed'],
  on: {
    // The queue was replaced by that of a backup or an older ledger.
    'index.replaced': (app) => () => app.media.sweepStaging(),
    'ledger.replaced': (app) => () => app.media.sweepStaging(),
    // A restored video is no longer ignored.
    'video.restored':
      ({ queue }) =>
      async ({ id }) => {
        if (queue.get(id)?.status === 'ignore') await queue.remove(id)
      },
    'downloader.changed': (app) => () => app.degraded.fetchSoon(),
    'download.failed': (app) => (failed) => {
      // An announced video has a time for a retry, and does not count as failed.
      if (failed.retryAt === undefined) app.failureNews.hear(failed)
    },
  },
  implements: {
    'platform.pending': (app) => async () => app.queue.waiting(),
    'platform.waiting': (app) => async () => app.queue.waitingByClass(),
    'platform.halted': (app) => () => app.queue.halted,
    'media.known': (app) => async (kind, id) => {
      await app.queue.untilTakenOver()
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
    linkPreviews: openLinkPreviews(app),
    failureNews: openFailureNews(app),
  }),
  async setup(app) {
    await app.queue.untilTakenOver()
    await app.extras.startPutOff()
  },
  close: (app) => app.failureNews.end(),
})

declare module 'archivolt' {
  interface Services {
    download: {
      /** Items that wait to be downloaded, and changes of them (contract 9.3). */
      queue: Queue
      /** The platform's list of a channel or playlist, as queue items. */
      listings: Listings
      /** Comments and subtitles of videos, fetched according to the preferences of downloads. */
      extras: Extras
      /** The work that follows a download run: comments of the new videos, and work of other plugins. */
      afterDownload: AfterDownload
      /** Degraded videos, which are downloaded again. */
      degraded: DegradedVideos
      /** Previews of ids and links, before anything is queued. */
      linkPreviews: LinkPreviews
      /** External addresses that are notified of failed downloads. */
      failureNews: FailureNews
    }
  }
}
