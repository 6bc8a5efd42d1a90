/**
 * Sidecars: the archive's knowledge in files next to its films, from which the archive can be rebuilt (contract 9.33).
 */
import { definePlugin } from 'archivolt'
import type { App } from './app.ts'
import { rebuild } from './commands.ts'
import { sidecars } from './preferences.ts'
import { dueTables } from './rows.ts'
import { openSidecars, type Sidecars } from './sidecars.ts'
import { writeSidecars } from './tasks.ts'

const video = (app: App) => (event: { id: string }) => app.sidecars.note('video', [event.id])
const channel = (app: App) => (event: { id: string }) => app.sidecars.note('channel', [event.id])
const playlist = (app: App) => (event: { id: string }) => app.sidecars.note('playlist', [event.id])
const all = (app: App) => () => app.sidecars.noteAll()

export default definePlugin({
  name: 'sidecar',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download', 'backup', 'library'],
  migrations: [dueTables],
  lanes: { sidecar: 1 },
  preferences: { sidecars },
  services: (app) => ({ sidecars: openSidecars(app) }),
  tasks: [writeSidecars],
  commands: [rebuild],
  implements: {
    'channel.remove': (app) => (id) => app.sidecars.note('channel', [id]),
  },
  on: {
    'video.added': (app) => async (event) => {
      await app.sidecars.note('video', [event.id])
      await app.sidecars.note('channel', [event.channelId])
    },
    'video.changed': video,
    'video.moved': video,
    'video.restored': video,
    'video.removed': video,
    'video.adopted':
      (app) =>
      ({ ids }) =>
        app.sidecars.note('video', ids),
    'channel.changed': channel,
    'channel.renewed': channel,
    'playlist.renewed': playlist,
    'index.replaced': all,
    'ledger.replaced': all,
  },
  setup: (app) => app.sidecars.follow(),
})

declare module 'archivolt' {
  interface Services {
    sidecar: {
      /** Records which sidecars must be written, and writes them. */
      sidecars: Sidecars
    }
  }
}
