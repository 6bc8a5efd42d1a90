/** Rewind: videos published a year ago this week, as a list and, on Mondays, as a message. */
import { type AppOf, DAY_MS, definePlugin, defineRoute, defineTask, listing, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  rewind: { count: Type.Integer({ title: 'Videos in the message', minimum: 1, maximum: 10, default: 3 }) },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    rewind: PreferencesOf<typeof preferences.rewind>
  }
}

type App = AppOf<'rewind' | 'video'>

/** Newest first. */
function aYearAgo({ videos, clock }: App, from: number, size: number) {
  const day = (before: number) => new Date(clock.now() - before * DAY_MS).toISOString().slice(0, 10)
  return videos.collection.find({
    filter: { range: ['published', { gte: day(368), lt: day(361) }] },
    sort: [{ by: 'published', order: 'desc' }],
    from,
    size,
  })
}

const listRewind = defineRoute({
  method: 'GET',
  path: '/api/rewind/',
  access: 'viewer',
  summary: 'Videos that were published a year ago this week',
  envelope: 'page',
  reply: Type.Object({ video_id: Type.String(), title: Type.String() }),
  async handle({ page }, app: App) {
    const { hits, total } = await aYearAgo(app, page.from, page.size)
    return listing(hits.map(({ id, text }) => JSON.stringify({ video_id: id, title: app.videos.headOf(text).title })), total)
  },
})

const tellRewind = defineTask({
  name: 'rewind.tell',
  title: 'A year ago',
  description: 'Shows a message with videos that were published a year ago.',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  silent: true,
  schedule: { auto: '0 7 1', initially: 'auto' },
  async run(_job, app: App) {
    const { hits } = await aYearAgo(app, 0, app.preferences.section('rewind').count)
    if (hits.length === 0) return 'Nothing was published a year ago'
    const messages = hits.map(({ text }) => app.videos.headOf(text).title)
    await app.jobs.notify({ title: 'A year ago', group: 'rewind:week', level: 'info', messages })
  },
})

export default definePlugin({
  name: 'rewind',
  api: 1,
  needs: ['video'],
  preferences,
  routes: [listRewind],
  tasks: [tellRewind],
})
