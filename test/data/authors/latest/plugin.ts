/** Latest: keeps the newest videos of each channel, and removes the others every night. */
import { type AppOf, definePlugin, defineRoute, defineTask, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  latest: {
    keep: Type.Integer({
      title: 'Videos to keep of a channel',
      description: 'The newest ones. 0 keeps all.',
      minimum: 0,
      maximum: 10_000,
      default: 0,
      'x-per-channel': true,
    }),
  },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    latest: PreferencesOf<typeof preferences.latest>
  }
}

type App = AppOf<'latest' | 'video' | 'removal' | 'perchannel'>

/** Ids of the videos of each channel, newest first. */
async function byChannel({ videos }: App): Promise<Map<string, string[]>> {
  const found: Array<[channel: string, day: string, id: string]> = []
  for await (const batch of videos.collection.parts({ paths: ['channel_id', 'published'] }))
    for (const { id, values: [channel, day] } of batch) found.push([String(channel), String(day ?? ''), id])
  found.sort(([, one], [, other]) => (one < other ? 1 : one > other ? -1 : 0))
  const ids = new Map<string, string[]>()
  for (const [channel, , id] of found) ids.set(channel, [...(ids.get(channel) ?? []), id])
  return ids
}

async function tooMany(app: App): Promise<string[]> {
  return [...(await byChannel(app))].flatMap(([channel, ids]) => {
    const { keep } = app.perChannel.section(channel, 'latest')
    return keep === 0 ? [] : ids.slice(keep)
  })
}

const sweep = defineTask({
  name: 'latest.sweep',
  title: 'Keep the latest videos',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  unique: true,
  resumable: true,
  schedule: { auto: '30 4 *', initially: 'auto' },
  async run({ id: removal, signal }, app: App) {
    const ids = await tooMany(app)
    const { removed, stays } = await app.removals.remove(ids, { removal, signal, note: 'Older than the latest' })
    return `${removed.length} removed, ${stays.size} stay`
  },
})

const preview = defineRoute({
  method: 'GET',
  path: '/api/latest/',
  access: 'admin',
  summary: 'How many videos the next night removes, at most',
  reply: Type.Object({ count: Type.Integer() }),
  handle: async (_input, app: App) => ({ count: (await tooMany(app)).length }),
})

export default definePlugin({
  name: 'latest',
  api: 1,
  title: 'Latest',
  needs: ['video', 'removal', 'perchannel'],
  preferences,
  routes: [preview],
  tasks: [sweep],
})
