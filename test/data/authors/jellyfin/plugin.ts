/** Jellyfin: notifies a Jellyfin server of added, moved and removed films. */
import { type AppOf, definePlugin, defineRoute, defineTask, errors, type PreferencesOf, Type } from '@archivolt/plugin'

const preferences = {
  jellyfin: {
    server: Type.String({
      title: 'Jellyfin',
      description: 'Its address. Empty: it is told nothing.',
      examples: ['http://jellyfin:8096/'],
      maxLength: 300,
      default: '',
      'x-try': '/api/jellyfin/try/',
    }),
    key: Type.String({ title: 'API key', maxLength: 200, default: '', 'x-secret': 'whole' }),
    folders: Type.Record(Type.String(), Type.String(), {
      title: 'Folders',
      description: 'A folder here, and the same folder as Jellyfin sees it.',
      default: {},
    }),
  },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    jellyfin: PreferencesOf<typeof preferences.jellyfin>
  }
}

type App = AppOf<'jellyfin' | 'fetch' | 'media' | 'video'>

async function ask({ fetch, preferences }: App, method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
  const { server, key } = preferences.section('jellyfin')
  const headers = { authorization: `MediaBrowser Token="${key}"`, 'content-type': 'application/json' }
  const response = await fetch(new URL(path, server).href, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (response.status >= 500) throw errors.unavailable(`Jellyfin answers ${response.status}`)
  if (!response.ok) throw errors.unprocessable(`Jellyfin answers ${response.status}: check its address and key`)
  return text === '' ? undefined : JSON.parse(text)
}

/** The path as Jellyfin sees it: the longest matching folder wins. */
function asSeen(path: string, folders: Readonly<Record<string, string>>): string {
  const [here, there] =
    Object.entries(folders)
      .filter(([folder]) => path.startsWith(folder))
      .sort(([one], [other]) => other.length - one.length)[0] ?? []
  return here === undefined ? path : `${there}${path.slice(here.length)}`
}

const Change = Type.Object({ path: Type.String(), kind: Type.Enum(['Created', 'Modified', 'Deleted']) })

const tell = defineTask({
  name: 'jellyfin.tell',
  title: 'Tell Jellyfin',
  payload: Type.Object({ changes: Type.Array(Change) }),
  lane: 'light',
  resumable: true,
  retries: { times: 5, delaySeconds: 30, factor: 2 },
  async run({ payload }, app: App) {
    const { server, folders } = app.preferences.section('jellyfin')
    if (server === '') return 'No Jellyfin is set'
    const Updates = payload.changes.map(({ path, kind }) => ({ Path: asSeen(path, folders), UpdateType: kind }))
    await ask(app, 'POST', 'Library/Media/Updated', { Updates })
    return `Told of ${Updates.length}`
  },
})

/** For many videos at once. */
const refresh = defineTask({
  name: 'jellyfin.refresh',
  title: 'Let Jellyfin scan its libraries',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  unique: true,
  retries: { times: 5, delaySeconds: 30, factor: 2 },
  async run(_job, app: App) {
    if (app.preferences.section('jellyfin').server === '') return 'No Jellyfin is set'
    await ask(app, 'POST', 'Library/Refresh')
    return 'Jellyfin scans'
  },
})

const tryIt = defineRoute({
  method: 'POST',
  path: '/api/jellyfin/try/',
  access: 'admin',
  summary: 'Whether Jellyfin answers',
  reply: Type.Object({ message: Type.String() }),
  async handle(_input, app: App) {
    if (app.preferences.section('jellyfin').server === '') throw errors.badRequest('Set the address of Jellyfin first')
    const { ServerName: name } = (await ask(app, 'GET', 'System/Info')) as { ServerName?: unknown }
    return { message: `${String(name)} answers` }
  },
})

export default definePlugin({
  name: 'jellyfin',
  api: 1,
  title: 'Jellyfin',
  needs: ['fetch', 'media', 'video'],
  preferences,
  routes: [tryIt],
  tasks: [tell, refresh],
  on: {
    'video.added': ({ jobs, media }) => async ({ id, channelId, why }) => {
      const kind = why === 'again' ? 'Modified' : 'Created'
      await jobs.start('jellyfin.tell', { changes: [{ path: media.pathOf(channelId, id), kind }] })
    },
    'video.moved': ({ jobs }) => async ({ path, oldPath }) => {
      const gone = oldPath === '' ? [] : [{ path: oldPath, kind: 'Deleted' }]
      await jobs.start('jellyfin.tell', { changes: [...gone, { path, kind: 'Created' }] })
    },
    'video.removed': ({ jobs }) => async ({ path }) => {
      if (path !== '') await jobs.start('jellyfin.tell', { changes: [{ path, kind: 'Deleted' }] })
    },
    'video.adopted': ({ jobs }) => () => jobs.start('jellyfin.refresh', {}, { afterSeconds: 60, replace: true }),
  },
})
