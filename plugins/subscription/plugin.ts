/** Subscriptions: follow channels and playlists, and queue their new videos. */
import { definePlugin } from 'archivolt'
import { beginningTables, endedTables, forgetBeginning } from './beginning.ts'
import { channelBelongings } from './belongings.ts'
import { depthTables, forgetDepth } from './depth.ts'
import { beginFeeds, feedTables, forgetFeed, pollFeeds, scanNew } from './feeds.ts'
import { afterDownload, indexPlaylists } from './playlists.ts'
import { ownPlaylistSize, subscriptions } from './preferences.ts'
import { subscribeChannels, subscribePlaylists } from './routes.ts'
import { scanTables, updateSubscribed } from './scan.ts'
import { subscribeTo } from './subscribe.ts'
import { withdraw, withdrawalTables } from './withdrawals.ts'

export default definePlugin({
  name: 'subscription',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  preferences: { subscriptions },
  migrations: [scanTables, depthTables, beginningTables, ownPlaylistSize, endedTables, feedTables, withdrawalTables],
  routes: [subscribeChannels, subscribePlaylists],
  tasks: [subscribeTo, updateSubscribed, pollFeeds, scanNew, indexPlaylists],
  lanes: { feeds: 1 },
  async setup(app) {
    app.preferences.watch(
      () => void beginFeeds(app).catch((err) => app.log.warn({ err }, 'polling of feeds could not be started')),
    )
    await beginFeeds(app)
  },
  implements: {
    'download.after': (app) => (ingested, job) =>
      job.step('subscription.playlists', () => afterDownload(ingested, job, app)),
    'channel.belongings': channelBelongings,
    'channel.unsubscribe': (app) => (id) => withdraw(id, app),
    'playlist.unsubscribe': (app) => (id) => withdraw(id, app),
    'channel.remove': (app) => (channelId, step) =>
      step('subscription.forget', async () => {
        await withdraw(channelId, app)
        await forgetBeginning(channelId, app)
        await forgetFeed(app, channelId)
      }),
  },
  on: {
    'index.replaced': (app) => () => forgetDepth(app),
    'ledger.replaced': (app) => () => forgetDepth(app),
    'channel.changed':
      (app) =>
      async ({ id, change }) => {
        if (change.channel_subscribed) await beginFeeds(app)
        // If a person has subscribed again meanwhile, the beginning stays.
        if (change.channel_subscribed === false && !(await app.channels.get(id))?.channel_subscribed)
          await forgetBeginning(id, app)
        if (change.channel_overwrites?.index_playlists) await app.jobs.start(indexPlaylists, { channelId: id })
      },
  },
})
