/** Routes for the state of the library, and for starting its tasks with options (contract B). */
import { defineRoute, Said, saidOf, Type } from 'archivolt'
import type { App } from './app.ts'
import { manualImport } from './import.ts'
import { downloadMissing } from './missing.ts'
import { rescanFilesystem } from './rescan.ts'

const Started = Type.Object({ task_id: Type.String(), status: Type.Literal('PENDING'), task_name: Type.String() })
const StartedTwice = Type.Object({ ...Started.properties, message: Started })
const prefer_local = Type.Optional(
  Type.Boolean({
    description:
      'take metadata from the information file next to a video file, if there is one, instead of from the platform',
  }),
)

export const startRescan = defineRoute({
  method: 'POST',
  path: '/api/library/rescan/',
  access: 'admin',
  summary: 'Compare the library on disk with the archive; `force` also removes videos whose files are missing',
  body: Type.Object({ force: Type.Optional(Type.Boolean()), prefer_local }),
  bodyOptional: true,
  reply: StartedTwice,
  handle: ({ body }, app) =>
    start(
      rescanFilesystem,
      { ...(body?.force && { force: true }), ...(body?.prefer_local && { preferLocal: true }) },
      app,
    ),
})

export const startImport = defineRoute({
  method: 'POST',
  path: '/api/library/import/',
  access: 'admin',
  summary: 'Import the videos in the import folder',
  body: Type.Object({ prefer_local }),
  bodyOptional: true,
  reply: StartedTwice,
  handle: ({ body }, app) => start(manualImport, body?.prefer_local ? { preferLocal: true } : {}, app),
})

export const startDownloadMissing = defineRoute({
  method: 'POST',
  path: '/api/library/missing/',
  access: 'admin',
  summary: 'Download all videos again whose files are missing',
  body: Type.Object({ command: Type.Enum(['download']) }),
  reply: StartedTwice,
  handle: (_input, app: App) => start(downloadMissing, {}, app),
})

async function start(task: { name: string }, payload: object, { jobs }: Pick<App, 'jobs'>) {
  const { id } = await jobs.start(task.name, { ...payload })
  const started = { task_id: id, status: 'PENDING' as const, task_name: task.name }
  return { ...started, message: started }
}

const Presence = Type.Object({ state: Type.Enum(['there', 'away']), reason: Type.String(), said: Type.Optional(Said) })

async function presenceOf({ media }: Pick<App, 'media'>) {
  const absence = await media.absence()
  const { texts, said } = saidOf([absence ?? ''])
  const state = absence === undefined ? ('there' as const) : ('away' as const)
  return { state, reason: texts[0]!, said }
}

export const showLibrary = defineRoute({
  method: 'GET',
  path: '/api/library/',
  access: 'admin',
  summary: 'Whether the library is available; while it is not, nothing is written or removed',
  reply: Presence,
  handle: (_input, app: App) => presenceOf(app),
})

export const commandLibrary = defineRoute({
  method: 'POST',
  path: '/api/library/',
  access: 'admin',
  summary: 'Accept the current media folder as the library',
  body: Type.Object({ command: Type.Enum(['accept']) }),
  reply: Presence,
  errors: ['conflict', 'unavailable'],
  async handle(_input, app: App) {
    await app.media.accept()
    return presenceOf(app)
  },
})
