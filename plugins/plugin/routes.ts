/** The routes that list plugins with their pages and buttons, and change them. */
import { type App, defineRoute, errors, mayUse, openLocks, say, Type } from 'archivolt'
import { startChange } from './change.ts'

type Listed = ReturnType<App['plugins']['list']>[number]

const Count = Type.Integer({ minimum: 0 })

const PluginRecord = Type.Object({
  name: Type.String(),
  version: Type.String(),
  title: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  author: Type.Optional(Type.String()),
  homepage: Type.Optional(Type.String()),
  built_in: Type.Boolean(),
  added: Type.Optional(Type.Literal(true, { description: 'it can be updated and removed with this API' })),
  enabled: Type.Boolean(),
  stopped: Type.Optional(Type.Literal(true)),
  switched_off: Type.Optional(Type.Literal(true, { description: 'an admin has switched it off' })),
  fault: Type.Optional(Type.String()),
  needs: Type.Array(Type.String()),
  routes: Count,
  tasks: Count,
  brings: Type.Optional(
    Type.Object(
      {
        page: Type.Boolean(),
        button: Type.Boolean(),
        tasks: Type.Array(Type.Object({ name: Type.String(), title: Type.String() })),
        preferences: Type.Array(Type.String(), { description: 'sections of /api/config/' }),
      },
      { description: 'what people see of an external plugin' },
    ),
  ),
  last_failure: Type.Optional(Type.Object({ date: Count, message: Type.String() })),
})

export const listPlugins = defineRoute({
  method: 'GET',
  path: '/api/plugin/',
  access: 'admin',
  summary: 'Plugins: built in or from outside, on or off, and what last failed in each since the start',
  reply: Type.Array(PluginRecord),
  handle: (_input, app) => app.plugins.list().map((plugin) => toRecord(plugin, app)),
})

function toRecord(plugin: Listed, app: App) {
  const { name, title, description, author, homepage, version, isBuiltIn, isOn, fault, lastFailure } = plugin
  return {
    ...{ name, version, title, description, author, homepage, built_in: isBuiltIn },
    ...(plugin.isAdded && { added: true as const }),
    enabled: isOn,
    ...(plugin.isStopped && { stopped: true as const }),
    ...(plugin.isSwitchedOff && { switched_off: true as const }),
    ...{ fault, needs: plugin.needs, routes: plugin.routes, tasks: plugin.tasks },
    ...(!isBuiltIn && { brings: broughtBy(name, app) }),
    last_failure: lastFailure && { date: Math.floor(lastFailure.atMs / 1000), message: lastFailure.message },
  }
}

function broughtBy(name: string, { registry, plugins }: App) {
  const { tasks = [], preferences = {} } = registry.plugins.find((plugin) => plugin.name === name) ?? {}
  const places = plugins.pages.filter(({ plugin }) => plugin === name).map(({ place }) => place)
  return {
    page: places.includes('navigation'),
    button: places.includes('player'),
    tasks: tasks.filter(({ internal }) => !internal).map(({ name: task, title }) => ({ name: task, title })),
    preferences: Object.keys(preferences),
  }
}

const recordOf = (name: string, app: App) =>
  toRecord(app.plugins.list().find((plugin) => plugin.name === name && !plugin.isBuiltIn)!, app)

const params = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) })
const Started = Type.Object({ task_id: Type.String() })

export const startPlugin = defineRoute({
  method: 'POST',
  path: '/api/plugin/:name/start/',
  access: 'admin',
  summary: 'Start a plugin that was stopped after repeated errors',
  params,
  reply: PluginRecord,
  errors: ['not_found', 'conflict'],
  handle({ params: { name } }, app) {
    app.plugins.startAgain(name)
    return recordOf(name, app)
  },
})

/** Plugins are switched one after the other, because each switch rewrites the list in the file. */
const switching = openLocks()

export const switchPlugin = defineRoute({
  method: 'POST',
  path: '/api/plugin/:name/',
  access: 'admin',
  scope: 'none',
  summary: 'Switch an external plugin off or on, at once and for the next starts',
  params,
  body: Type.Object({ enabled: Type.Boolean() }),
  reply: PluginRecord,
  errors: ['not_found', 'conflict'],
  async handle({ params: { name }, body }, app) {
    await switching.exclusive('list', () => app.plugins.switch(name, body.enabled))
    return recordOf(name, app)
  },
})

export const addPlugin = defineRoute({
  method: 'POST',
  path: '/api/plugin/',
  access: 'admin',
  scope: 'none',
  summary: 'Add a plugin from npm, for the next start. It can do everything that the server can',
  body: Type.Object({
    package: Type.String({
      maxLength: 214,
      pattern: '^(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9_-]*(@[a-z0-9.^~-]+)?$',
      'x-words': say`the name of an npm package, such as archivolt-plugin-tide or archivolt-plugin-tide@1.2.0`,
    }),
  }),
  reply: Started,
  handle: ({ body }, app) => startChange({ action: 'add', what: body.package }, app),
})

export const updatePlugin = defineRoute({
  method: 'POST',
  path: '/api/plugin/:name/update/',
  access: 'admin',
  scope: 'none',
  summary: 'Install the newest version of an added plugin, for the next start',
  params,
  reply: Started,
  errors: ['not_found'],
  handle: ({ params: { name } }, app) => startChange({ action: 'update', what: addedName(name, app) }, app),
})

export const removePlugin = defineRoute({
  method: 'DELETE',
  path: '/api/plugin/:name/',
  access: 'admin',
  scope: 'none',
  summary: 'Remove an added plugin, from the next start on; its data stays',
  params,
  reply: Started,
  errors: ['not_found'],
  handle: ({ params: { name } }, app) => startChange({ action: 'remove', what: addedName(name, app) }, app),
})

/** @throws not_found: the plugin was not added by anybody */
function addedName(name: string, { plugins }: App): string {
  if (!plugins.list().some((plugin) => plugin.name === name && plugin.isAdded)) throw errors.notFound('plugin', name)
  return name
}

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
  summary: 'Pages and player buttons of plugins that the account may see, and the routes that each may use',
  reply: Type.Array(PageRecord),
  handle: ({ actor }, app) =>
    app.plugins.pages
      .filter(({ access }) => mayUse(actor, access))
      .map(({ plugin, place, title, asks }) => ({ plugin, place, title, asks: [...asks] })),
})
