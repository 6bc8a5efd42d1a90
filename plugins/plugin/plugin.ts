/** Lists the plugins and the pages that they bring, starts stopped ones again, and says which were left out. */
import { type App, DAY_SECONDS, definePlugin, say } from 'archivolt'
import { listPages, listPlugins, startPlugin } from './routes.ts'
import { watchStalls } from './stalls.ts'

const TOLD_SECONDS = 7 * DAY_SECONDS

/** Of each server of this process. */
const ends = new WeakMap<object, () => void>()

export default definePlugin({
  name: 'plugin',
  routes: [listPlugins, startPlugin, listPages],
  setup: (app) => void ends.set(app, watchStalls(app)),
  close: (app) => ends.get(app)?.(),
  on: { 'server.ready': (app) => () => tellBroken(app) },
})

async function tellBroken({ plugins, jobs }: App): Promise<void> {
  for (const { name, fault } of plugins.list())
    if (fault !== undefined) await jobs.warn('A plugin was left out', say`${{ name }}: ${{ fault }}`, TOLD_SECONDS)
}
