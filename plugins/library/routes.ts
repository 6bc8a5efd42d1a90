/** Whether the library is there, and the rescan with what the task's own route cannot take (contract B). */
import { defineRoute, Type } from 'archivolt'
import type { App } from './app.ts'
import { rescanFilesystem } from './rescan.ts'

const Started = Type.Object({ task_id: Type.String(), status: Type.Literal('PENDING'), task_name: Type.String() })

export const startRescan = defineRoute({
  method: 'POST',
  path: '/api/library/rescan/',
  access: 'admin',
  summary: 'Compare the library with what is listed; `force` also removes what would be held back',
  body: Type.Object({ force: Type.Optional(Type.Boolean()) }),
  bodyOptional: true,
  reply: Type.Object({ ...Started.properties, message: Started }),
  async handle({ body }, app) {
    const job = await app.jobs.start(rescanFilesystem, body?.force ? { force: true } : {})
    const started = { task_id: job.id, status: 'PENDING', task_name: rescanFilesystem.name }
    return { ...started, message: started }
  },
})

const Presence = Type.Object({ state: Type.Enum(['there', 'away']), reason: Type.String() })

async function presenceOf({ media }: Pick<App, 'media'>) {
  const absence = await media.absence()
  return { state: absence === undefined ? ('there' as const) : ('away' as const), reason: absence ?? '' }
}

export const showLibrary = defineRoute({
  method: 'GET',
  path: '/api/library/',
  access: 'admin',
  summary: 'Whether the library is there; while it is not, nothing is written or removed',
  reply: Presence,
  handle: (_input, app: App) => presenceOf(app),
})

export const commandLibrary = defineRoute({
  method: 'POST',
  path: '/api/library/',
  access: 'admin',
  summary: 'Accept the media folder as it is now as the library',
  body: Type.Object({ command: Type.Enum(['accept']) }),
  reply: Presence,
  errors: ['conflict', 'unavailable'],
  async handle(_input, app: App) {
    await app.media.accept()
    return presenceOf(app)
  },
})
