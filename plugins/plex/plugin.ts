/**
 * Plex: the archive as a metadata provider, from which a Plex server requests shows, seasons, episodes and pictures.
 */
import { definePlugin } from 'archivolt'
import {
  findMatches,
  listChildren,
  listCollection,
  listCollectionImages,
  listExtras,
  listGrandchildren,
  listImages,
  showCollection,
  showItem,
  showPicture,
  showProvider,
} from './provider-routes.ts'
import { openProviders, type Providers } from './providers.ts'
import { endAddress, makeAddress, showAddress } from './routes.ts'
import { openShelf, type Shelf } from './shelf.ts'
import { providerTables } from './tables.ts'

export default definePlugin({
  name: 'plex',
  needs: ['platform', 'user', 'media', 'channel', 'video', 'playlist', 'faces'],
  migrations: [providerTables],
  routes: [
    ...[showAddress, makeAddress, endAddress],
    ...[showProvider, findMatches, showItem, listChildren, listGrandchildren, listImages, listExtras],
    ...[showCollection, listCollection, listCollectionImages, showPicture],
  ],
  services: (app) => ({ providers: openProviders(app), shelf: openShelf(app) }),
})

declare module 'archivolt' {
  interface Services {
    plex: {
      /** Stores the addresses of accounts' metadata providers. */
      providers: Providers
      /** The order of episodes in shows. */
      shelf: Shelf
    }
  }
}
