/** Newest: only the newest videos of each channel stay. The others go into the bin every night, and are not fetched again. */
import { type AppOf, definePlugin, defineTask, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  newest: {
    count: Type.Integer({ title: 'Keep the newest', description: '0 keeps all videos.', minimum: 0, maximum: 1000, default: 0 }),
  },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    newest: PreferencesOf<typeof preferences.newest>
  }
}

type App = AppOf<'newest' | 'video' | 'removal'>

/** The ids of those that are not among the newest of their channel. */
async function olderThan({ videos }: App, count: number): Promise<string[]> {
  const byChannel = new Map<string, Array<{ id: string; day: string }>>()
  for await (const batch of videos.collection.parts({ paths: ['channel_id', 'published'] }))
    for (const { id, values } of batch) {
      const [channelId, day] = [String(values[0]), String(values[1] ?? '')]
      byChannel.set(channelId, [...(byChannel.get(channelId) ?? []), { id, day }])
    }
  const newestFirst = [...byChannel.values()].map((all) => all.sort((one, other) => other.day.localeCompare(one.day)))
  return newestFirst.flatMap((all) => all.slice(count).map(({ id }) => id))
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
    const { count } = app.preferences.section('newest')
    if (count === 0) return 'All videos are kept'
    // After an interruption the job runs again, with the same id: the removal goes on.
    const { removed, stays } = await app.removals.remove(await olderThan(app, count), {
      ...{ removal: id, signal },
      note: `Keep the newest ${count} of a channel`,
    })
    return `Removed: ${removed.length}. Not removed: ${stays.size}`
  },
})

export default definePlugin({ name: 'newest', api: 1, needs: ['video', 'removal'], preferences, tasks: [sweep] })
