/** The rescan over HTTP, with what the task's own route cannot take (contract B). */
import { defineRoute, Type } from 'archivolt'
import { rescanFilesystem } from './rescan.ts'

const Started = Type.Object({ task_id: Type.String(), status: Type.Literal('PENDING'), task_name: Type.String() })

export const startRescan = defineRoute({
  method: 'POST',
  path: '/api/library/rescan/',
  access: 'admin',
  summary: 'Bring index and library together; `force` lifts the guard against a missing disk once',
  body: Type.Object({ force: Type.Optional(Type.Boolean()) }),
  bodyOptional: true,
  reply: Type.Object({ ...Started.properties, message: Started }),
  async handle({ body }, app) {
    const job = await app.jobs.start(rescanFilesystem, body?.force ? { force: true } : {})
    const started = { task_id: job.id, status: 'PENDING', task_name: rescanFilesystem.name }
    return { ...started, message: started }
  },
})
