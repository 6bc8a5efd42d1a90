/** Lists plugins and their parts; adds, removes and switches plugins; and reports those that were not loaded. */
import { type App, DAY_SECONDS, definePlugin, say, Type } from 'archivolt'
import { changePlugins } from './change.ts'
import { asideCommands } from './commands.ts'
import { addPlugin, listPages, listPlugins, removePlugin, startPlugin, switchPlugin, updatePlugin } from './routes.ts'
import { watchStalls } from './stalls.ts'

const TOLD_SECONDS = 7 * DAY_SECONDS

/** The function that stops the monitoring of stalls, for each server in this process. */
const ends = new WeakMap<object, () => void>()

export default definePlugin({
  name: 'plugin',
  settings: {
    pluginsAdd: {
      env: 'AV_PLUGINS_ADD',
      schema: Type.Boolean(),
      default: true,
      meaning: 'admins may add, update and remove plugins on the page',
    },
  },
  lanes: { plugins: 1 },
  routes: [listPlugins, addPlugin, startPlugin, switchPlugin, updatePlugin, removePlugin, listPages],
  tasks: [changePlugins],
  asideCommands,
  setup: (app) => void ends.set(app, watchStalls(app)),
  close: (app) => ends.get(app)?.(),
  on: { 'server.ready': (app) => () => reportBroken(app) },
})

async function reportBroken({ plugins, jobs }: App): Promise<void> {
  for (const { name, fault } of plugins.list())
    if (fault !== undefined) await jobs.warn('A plugin was left out', say`${{ name }}: ${{ fault }}`, TOLD_SECONDS)
}

declare module 'archivolt' {
  interface Settings {
    pluginsAdd: boolean
  }
}
