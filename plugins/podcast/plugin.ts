/**
 * Podcasts: channels, playlists, groups and searches as feeds for any podcast app, with sound, film, chapters and
 * transcripts.
 */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { channelBelongings } from './belongings.ts'
import { type Contents, openContents } from './contents.ts'
import { showChapters, showCover, showFeed, showFilm, showPicture, showSound, showTranscript } from './feed-routes.ts'
import { type FeedVersions, openFeedVersions } from './feed-versions.ts'
import { type Feeds, openFeeds } from './feeds.ts'
import { makeSounds } from './make-sounds-task.ts'
import { podcasts } from './preferences.ts'
import { endFeed, listAsOpml, listFeeds, makeFeed } from './routes.ts'
import { openSounds, type Sounds } from './sounds.ts'
import { openSquares, type Squares } from './squares.ts'
import { feedsOfGroups, podcastTables } from './tables.ts'

/** Called when the film of a video was replaced. */
const makeAgain =
  (app: App) =>
  async ({ id }: { id: string }): Promise<void> => {
    await app.sounds.forget([id])
    await makeMore(app)
  }

async function makeMore({ feeds, jobs }: App): Promise<void> {
  if (feeds.all().length > 0) await jobs.start(makeSounds)
}

export default definePlugin({
  name: 'podcast',
  needs: ['platform', 'media', 'channel', 'video', 'playlist'],
  migrations: [podcastTables, feedsOfGroups],
  lanes: { sound: 1 },
  preferences: { podcasts },
  services: (app) => ({
    feeds: openFeeds(app),
    contents: openContents(app),
    feedVersions: openFeedVersions(app),
    sounds: openSounds(app),
    squares: openSquares(app),
  }),
  async setup({ sounds, squares }) {
    await sounds.begin()
    await squares.begin()
  },
  routes: [
    ...[listFeeds, makeFeed, endFeed, listAsOpml],
    ...[showFeed, showCover, showPicture, showSound, showFilm, showChapters, showTranscript],
  ],
  tasks: [makeSounds],
  implements: {
    'video.remove': ({ videos, sounds, squares }) =>
      videos.removal(async (ids, step) => {
        await step('podcast.drop', async () => {
          await sounds.forget(ids)
          await squares.dropVideos(ids)
        })
      }),
    'channel.belongings': channelBelongings,
    'channel.remove': (app) => (id, step) => step('podcast.end', () => app.feeds.endOf('channel', id)),
  },
  on: {
    'video.added': makeAgain,
    'video.changed': (app) => async (change) => {
      if (change.what === 'file') await makeAgain(app)(change)
    },
    'video.adopted': (app) => () => makeMore(app),
    'video.restored': (app) => () => makeMore(app),
    'playlist.renewed': (app) => () => makeMore(app),
    'server.ready': (app) => () => makeMore(app),
    'index.replaced':
      ({ sounds, videos }) =>
      () =>
        sounds.dropUnknown((ids) => videos.known(ids)),
    'ledger.replaced':
      ({ sounds, videos }) =>
      () =>
        sounds.dropUnknown((ids) => videos.known(ids)),
  },
})

declare module 'archivolt' {
  interface Services {
    podcast: {
      /** Stores the podcasts of accounts, and makes their addresses. */
      feeds: Feeds
      /** The contents of a podcast for its account. */
      contents: Contents
      /** The current version of a feed, known without generating it. */
      feedVersions: FeedVersions
      /** The sound of films, made once and limited in total size. */
      sounds: Sounds
      /** Square pictures, made from those in the archive. */
      squares: Squares
    }
  }
}
