/** Media: the library on disk, the pictures, and both over HTTP. */
import { join } from 'node:path'
import { definePlugin, Type } from 'archivolt'
import { asideTables } from './aside.ts'
import { type MediaService, openMedia } from './media.ts'
import { missingTables } from './missing.ts'
import { ownFilmTables } from './own-films.ts'
import { placeTrashTables } from './place-trash.ts'
import { placeTables } from './places.ts'
import { presenceTables } from './presence.ts'
import { showChannelArt, showMedia, showPlaylistArt, showVideoArt } from './routes.ts'

const folder = (env: string, name: string, meaning: string) => ({
  env,
  schema: Type.String({ minLength: 1 }),
  default: (settings: { readonly dataDir: string }) => join(settings.dataDir, name),
  meaning,
})

export default definePlugin({
  name: 'media',
  needs: ['platform'],
  settings: {
    mediaDir: folder('AV_MEDIA_DIR', 'media', 'the library, which also contains staging and trash'),
    cacheDir: folder('AV_CACHE_DIR', 'cache', 'pictures of videos, channels and playlists'),
    importDir: folder('AV_IMPORT_DIR', 'import', 'the folder for files to be imported manually'),
    libraryRoots: {
      env: 'AV_LIBRARY_ROOTS',
      schema: Type.Array(Type.String({ minLength: 1 })),
      default: ({ importDir }: { readonly importDir: string }) => [importDir],
      isPath: true,
      meaning: 'folders below which folders of other programs may be added; videos in them are only read',
    },
  },
  migrations: [presenceTables, placeTables, asideTables, placeTrashTables, ownFilmTables, missingTables],
  hooks: [
    'media.known',
    'media.kept',
    'media.titled',
    'media.staged',
    'media.films',
    'media.links',
    'media.written',
    'media.replacing',
    'media.play',
  ],
  // If in doubt, a file is not deleted.
  hookRules: {
    'media.known': { otherwise: () => true },
    'media.kept': { otherwise: () => true },
    'media.titled': { otherwise: () => undefined },
    'media.staged': { otherwise: ([ids]: ReadonlyArray<readonly string[]>) => new Set(ids) },
    'media.films': { otherwise: () => [] },
    'media.links': { isSync: true, otherwise: () => new Map() },
    'media.written': { otherwise: () => undefined },
    'media.replacing': { otherwise: () => true },
    'media.play': { otherwise: () => undefined },
  },
  implements: {
    // While the library is unavailable, its folder may be missing, or be on another disk.
    'platform.space': (app) => async () =>
      (await app.media.absence()) === undefined ? app.media.space() : { free: 0, total: 0 },
    'platform.library': (app) => () => app.media.absence(),
  },
  routes: [showMedia, showVideoArt, showChannelArt, showPlaylistArt],
  services: (app) => ({ media: openMedia(app) }),
  on: { 'server.ready': (app) => () => (app.media as MediaService).tellAbsence() },
  setup: (app) => (app.media as MediaService).begin(),
  close: (app) => (app.media as MediaService).end(),
})
