/** The routes that list plugins, their pages and their buttons. */
import { type App, defineRoute, mayUse, Type } from 'archivolt'

type Listed = ReturnType<App['plugins']['list']>[number]

const Count = Type.Integer({ minimum: 0 })

const PluginRecord = Type.Object({
  name: Type.String(),
  version: Type.String(),
  built_in: Type.Boolean(),
  enabled: Type.Boolean(),
  stopped: Type.Optional(Type.Literal(true)),
  fault: Type.Optional(Type.String()),
  needs: Type.Array(Type.String()),
  routes: Count,
  tasks: Count,
  last_failure: Type.Optional(Type.Object({ date: Count, message: Type.String() })),
})

export const listPlugins = defineRoute({
  method: 'GET',
  path: '/api/plugin/',
  access: 'admin',
  summary: 'Plugins: built in or from outside, on or off, and what last failed in each since the start',
  reply: Type.Array(PluginRecord),
  handle: (_input, app) => app.plugins.list().map(toRecord),
})

const toRecord = ({ name, version, isBuiltIn, isOn, isStopped, fault, lastFailure, ...counts }: Listed) => ({
  ...{ name, version, built_in: isBuiltIn, enabled: isOn, ...(isStopped && { stopped: true }), fault },
  ...{ needs: counts.needs, routes: counts.routes, tasks: counts.tasks },
  last_failure: lastFailure && { date: Math.floor(lastFailure.atMs / 1000), message: lastFailure.message },
})

export const startPlugin = defineRoute({
  method: 'POST',
  path: '/api/plugin/:name/start/',
  access: 'admin',
  summary: 'Starts a plugin again that was stopped after repeated errors',
  params: Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) }),
  reply: PluginRecord,
  errors: ['not_found', 'conflict'],
  handle({ params: { name } }, app) {
    app.plugins.startAgain(name)
    return toRecord(app.plugins.list().find((plugin) => plugin.name === name)!)
  },
})

const PageRecord = Type.Object({
  plugin: Type.String(),
  place: Type.Enum(['navigation', 'player']),
  title: Type.String(),
  asks: Type.Array(Type.String()),
})

export const listPages = defineRoute({
  method: 'GET',
  path: '/api/plugin/page/',
  access: 'viewer',
  summary:
    'Pages and player buttons that plugins bring: those that the account may see, and what each may ask of the API',
  reply: Type.Array(PageRecord),
  handle: ({ actor }, app) =>
    app.plugins.pages
      .filter(({ access }) => mayUse(actor, access))
      .map(({ plugin, place, title, asks }) => ({ plugin, place, title, asks: [...asks] })),
})
