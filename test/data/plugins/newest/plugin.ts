/**
 * Newest: keeps only the newest videos of each channel. The others go to the bin every night, and are not downloaded
 * again.
 */
import { type AppOf, definePlugin, defineTask, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  newest: {
    count: Type.Integer({ title: 'Keep the newest', description: '0 keeps all videos.', minimum: 0, maximum: 1000, default: 0, 'x-per-channel': true }),
  },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    newest: PreferencesOf<typeof preferences.newest>
  }
}

type App = AppOf<'newest' | 'video' | 'removal' | 'perchannel'>

/** Ids of the videos that are not among the newest of their channel, which may have its own limit. */
async function tooOld({ videos, perChannel }: App): Promise<string[]> {
  const byChannel = new Map<string, Array<{ id: string; day: string }>>()
  for await (const batch of videos.collection.parts({ paths: ['channel_id', 'published'] }))
    for (const { id, values } of batch) {
      const [channelId, day] = [String(values[0]), String(values[1] ?? '')]
      const all = byChannel.get(channelId) ?? []
      all.push({ id, day })
      byChannel.set(channelId, all)
    }
  return [...byChannel].flatMap(([channelId, all]) => {
    const { count } = perChannel.section(channelId, 'newest')
    if (count === 0) return []
    const newestFirst = all.sort((one, other) => other.day.localeCompare(one.day))
    return newestFirst.slice(count).map(({ id }) => id)
  })
}

const sweep = defineTask({
  name: 'newest.sweep',
  title: 'Keep the newest videos',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  unique: true,
  resumable: true,
  schedule: { auto: '15 3 *', initially: 'auto' },
  async run({ id, signal }, app: App) {
    const ids = await tooOld(app)
    if (ids.length === 0) return 'All videos are kept'
    // After an interruption the job runs again with the same id, and the removal continues.
    const { removed, stays } = await app.removals.remove(ids, {
      ...{ removal: id, signal },
      note: 'Not among the newest of its channel',
    })
    return `Removed: ${removed.length}. Not removed: ${stays.size}`
  },
})

export default definePlugin({ name: 'newest', api: 1, needs: ['video', 'removal', 'perchannel'], preferences, tasks: [sweep] })
