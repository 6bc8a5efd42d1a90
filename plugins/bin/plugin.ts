/** The bin: holds removed videos and channels for some days, and restores them completely (contract 9.25). */
import { definePlugin, type PreferencesOf } from 'archivolt'
import { type BinService, openBin } from './bin.ts'
import { bin } from './preferences.ts'
import { emptyEntries, listBin, restoreEntries } from './routes.ts'
import { binnedFilms, binnedPlaylists, binTables } from './rows.ts'
import { emptyBin, restoreFromBin } from './tasks.ts'
import { clockTables } from './trusted-clock.ts'

export default definePlugin({
  name: 'bin',
  needs: ['platform', 'media', 'channel', 'video', 'playlist'],
  migrations: [binTables, binnedPlaylists, binnedFilms, clockTables],
  preferences: { bin },
  implements: {
    'media.kept': (app) => async (kind, id) => app.bin.holds(kind, id),
    'video.bin': (app) => app.bin.holding.ofVideos,
    'channel.bin': (app) => app.bin.holding.ofChannels,
    'playlist.bin': (app) => app.bin.holding.ofPlaylists,
  },
  on: { 'video.removed': (app) => () => app.bin.makeRoom() },
  routes: [listBin, restoreEntries, emptyEntries],
  tasks: [restoreFromBin, emptyBin],
  services: (app) => ({ bin: openBin(app) }),
  setup: (app) => app.bin.begin(),
  close: (app) => app.bin.close(),
})

declare module 'archivolt' {
  interface Services {
    bin: {
      bin: BinService
    }
  }
  interface PreferenceValues {
    bin: PreferencesOf<typeof bin>
  }
}
