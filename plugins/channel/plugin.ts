/** Channels: stores, lists, changes and removes them, and resolves handles. */
import { definePlugin } from 'archivolt'
import { openChannels } from './channels.ts'
import { handleTables } from './handles.ts'
import { quality, wordsForRules } from './quality.ts'
import { removeChannel } from './removal-task.ts'
import { changeChannel, deleteChannel, listChannels, searchChannel, showChannel } from './routes.ts'
import { channelIndex } from './schema.ts'

export default definePlugin({
  name: 'channel',
  needs: ['platform', 'media'],
  indexes: [channelIndex],
  migrations: [handleTables, wordsForRules],
  preferences: { downloads: quality },
  hooks: ['channel.group', 'channel.unsubscribe', 'channel.remove', 'channel.belongings', 'channel.bin'],
  hookRules: {
    'channel.group': { isSync: true, otherwise: () => undefined },
    'channel.unsubscribe': { otherwise: () => undefined },
    'channel.remove': { withinSeconds: 600, otherwise: () => undefined },
  },
  events: ['channel.changed', 'channel.renewed'],
  implements: {
    'media.known': (app) => async (kind, id) => kind === 'channel' && (await app.channels.known([id])).has(id),
    'media.titled': (app) => async (kind, id) =>
      kind === 'channel' ? (await app.channels.get(id))?.channel_name : undefined,
    'platform.known': (app) => async (target) => target.type === 'channel' && app.channels.isOurs(target.id),
  },
  routes: [listChannels, searchChannel, showChannel, changeChannel, deleteChannel],
  tasks: [removeChannel],
  services: (app) => ({ channels: openChannels(app) }),
})
