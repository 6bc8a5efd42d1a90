/** Twins: a scheduled task with its own index, which lists titles that several videos have. */
import { type AppOf, defineIndex, definePlugin, defineRoute, defineTask, fold, listing, Type } from '@archivolt/plugin'

const Twins = Type.Object({ title: Type.String(), ids: Type.Array(Type.String()) })
const twins = defineIndex({ name: 'twins', doc: Twins, fields: { title: { type: 'keyword', sort: true } } })

type App = AppOf<'twins' | 'video'>

const findTwins = defineTask({
  name: 'twins.find',
  title: 'Find videos with the same title',
  description: 'Looks through all videos for titles that several of them have.',
  payload: Type.Object({}),
  lane: 'light',
  unique: true,
  apiStart: true,
  apiStop: true,
  resumable: true, // results of an earlier run are written again
  schedule: { auto: '0 4 0' },
  async run(job, { index, videos }: App) {
    const found = new Map<string, { title: string; ids: string[] }>()
    for await (const batch of videos.collection.scan()) {
      job.signal.throwIfAborted()
      for (const { id, doc } of batch) {
        const one = found.get(fold(doc.title)) ?? { title: doc.title, ids: [] }
        one.ids.push(id)
        found.set(fold(doc.title), one)
      }
    }
    const own = index.collection(twins)
    const now = [...found.values()].filter(({ ids }) => ids.length > 1).map((doc) => ({ id: doc.ids.sort()[0]!, doc }))
    await own.putMany(now, { visible: true })
    const kept = new Set(now.map(({ id }) => id))
    for await (const batch of own.scan()) {
      const gone = batch.flatMap(({ id }) => (kept.has(id) ? [] : [id]))
      if (gone.length > 0) await own.remove(gone, { visible: true })
    }
    return `${now.length} found`
  },
})

const listTwins = defineRoute({
  method: 'GET',
  path: '/api/twins/',
  access: 'user',
  summary: 'Titles that several videos have',
  envelope: 'page',
  reply: Twins,
  async handle({ page }, { index }: App) {
    const sort = [{ by: 'title' as const, order: 'asc' as const }]
    const { hits, total } = await index.collection(twins).find({ sort, from: page.from, size: page.size })
    return listing(hits.map(({ text }) => text), total)
  },
})

export default definePlugin({
  name: 'twins',
  api: 1,
  needs: ['video'],
  indexes: [twins],
  tasks: [findTwins],
  routes: [listTwins],
  page: {
    title: 'Twins',
    module: new URL('./page.ts', import.meta.url),
    asks: ['GET /api/video/:videoId/', 'POST /api/task-name/twins.find/'],
  },
})
