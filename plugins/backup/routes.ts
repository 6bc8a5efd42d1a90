/** Routes of backups (contract 6.10, B). */
import { defineRoute, errors, file, ID_PATTERN, say, Type, tellSecurity } from 'archivolt'
import type { App } from './app.ts'
import { FILE_PATTERN, MAX_UPLOAD_BYTES } from './backup-folder.ts'
import { restoreBackup, runBackup } from './run-and-restore-tasks.ts'

/** An invalid name gives 404, so no other name reaches the folder. */
const FilePath = Type.Object({ filename: Type.String({ pattern: FILE_PATTERN, maxLength: 128 }) })
const BackupRecord = Type.Object({
  filename: Type.String(),
  file_path: Type.String(),
  file_size: Type.Integer(),
  timestamp: Type.String(),
  reason: Type.String(),
})
const Started = Type.Object({ message: Type.String(), task_id: Type.String({ pattern: ID_PATTERN }) })

export const listBackups = defineRoute({
  method: 'GET',
  path: '/api/backup/',
  access: 'admin',
  summary: 'Backup files, newest name first',
  reply: Type.Array(BackupRecord),
  handle: (_input, app: App) => app.backups.list(),
})

export const startBackup = defineRoute({
  method: 'POST',
  path: '/api/backup/',
  access: 'admin',
  summary: 'Make a backup',
  reply: Started,
  body: Type.Object({
    is_right: Type.Optional(
      Type.Boolean({
        description: 'Confirms that missing documents were removed on purpose: this backup is treated like any other',
      }),
    ),
  }),
  bodyOptional: true,
  async handle({ body }, app) {
    return {
      message: 'backup task started',
      task_id: (await app.jobs.start(runBackup, { ...(body?.is_right && { isRight: true }) })).id,
    }
  },
})

export const showBackup = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'One backup file',
  params: FilePath,
  reply: BackupRecord,
  handle: ({ params }, app: App) => app.backups.record(params.filename),
})

export const startRestore = defineRoute({
  method: 'POST',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Replace all documents with those of a backup',
  params: FilePath,
  reply: Type.Object({ message: Type.String(), filename: Type.String(), task_id: Type.String() }),
  errors: ['conflict', 'unprocessable'],
  async handle({ params: { filename }, signal }, app: App) {
    const job = await app.backups.begin(filename, signal, () => app.jobs.start(restoreBackup, { filename }))
    tellSecurity(app.log, 'restore', { backup: filename })
    return { message: 'backup restore task started', filename, task_id: job.id }
  },
})

export const takeInBackup = defineRoute({
  method: 'PUT',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Upload a backup file',
  params: FilePath,
  reply: BackupRecord,
  rawBody: { contentType: 'application/zip', maxBodyBytes: MAX_UPLOAD_BYTES },
  errors: ['conflict', 'unprocessable', 'body_too_large', 'unavailable'],
  handle: ({ params, request }, app: App) => app.backups.takeIn(params.filename, request.stream),
})

export const deleteBackup = defineRoute({
  method: 'DELETE',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Delete a backup file',
  params: FilePath,
  reply: Type.Object({ message: Type.String() }),
  errors: ['conflict'],
  async handle({ params: { filename } }, app: App) {
    await app.backups.record(filename)
    if (app.backups.restoring(filename)) throw errors.conflict(say`${{ filename }} is being restored`)
    await app.backups.remove(filename)
    return { message: `file ${filename} deleted` }
  },
})

export const downloadBackup = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/download/',
  access: 'admin',
  scope: 'admin',
  summary: 'The zip file',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'application/zip',
  handle: async ({ params: { filename } }, app: App) =>
    file(await app.backups.pathOf(filename), 'application/zip', { download: filename }),
})

const Counts = Type.Object({
  backup: Type.Integer(),
  now: Type.Integer(),
  added: Type.Integer(),
  removed: Type.Integer(),
  changed: Type.Integer(),
})
export const previewRestore = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/preview/',
  access: 'admin',
  summary: 'What a restore would change',
  params: FilePath,
  reply: Type.Record(Type.String(), Counts),
  errors: ['unprocessable'],
  handle: ({ params: { filename }, signal }, app: App) => app.backups.preview(filename, signal),
})
