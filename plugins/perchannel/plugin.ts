/** Preferences that a channel may override: those that plugins declare with `x-per-channel` (contract 9.34). */
import { definePlugin } from 'archivolt'
import { ownDocuments, restoredTable } from './documents.ts'
import { changeOwn, showOwn } from './routes.ts'
import { type ChannelPreferences, channelBelongings, openValues, valueTable } from './values.ts'

export default definePlugin({
  name: 'perchannel',
  needs: ['platform', 'media', 'channel'],
  migrations: [valueTable, restoredTable],
  routes: [showOwn, changeOwn],
  implements: {
    'channel.remove': (app) => (channelId) => app.perChannel.forget(channelId),
    'channel.belongings': channelBelongings,
    'archive.documents': ownDocuments,
  },
  services: (app) => ({ perChannel: openValues(app) }),
})

declare module 'archivolt' {
  interface Services {
    perchannel: {
      /** Preferences with the values that apply to a channel. */
      perChannel: ChannelPreferences
    }
  }
}
