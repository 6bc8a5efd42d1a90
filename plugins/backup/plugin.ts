/** Backups: all documents as a zip in the reference's form, made, rotated, taken in, compared, restored. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type App,
  definePlugin,
  defineRoute,
  defineTask,
  errors,
  file,
  ID_PATTERN,
  type JobContext,
  openFolder,
  Type,
} from 'archivolt'
import { FILE_PATTERN, openBackups } from './backups.ts'

/** What is no name of a backup is no path (404), so nothing else reaches the folder. */
const FilePath = Type.Object({ filename: Type.String({ pattern: FILE_PATTERN, maxLength: 128 }) })
const BackupRecord = Type.Object({
  filename: Type.String(),
  file_path: Type.String(),
  file_size: Type.Integer(),
  timestamp: Type.String(),
  reason: Type.String(),
})
const Started = Type.Object({ message: Type.String(), task_id: Type.String({ pattern: ID_PATTERN }) })

const DOUBT_SHOWN_FOR_SECONDS = 3600

const runBackup = defineTask({
  name: 'run_backup',
  title: 'Index Backup',
  group: 'setting:backup',
  payload: Type.Object({
    rotate: Type.Optional(Type.Integer({ minimum: 1 })),
    reason: Type.Optional(Type.Enum(['auto', 'update', 'manual'])),
    isRight: Type.Optional(Type.Boolean()),
  }),
  lane: 'index',
  apiStart: true,
  unique: true,
  merge: (before, asked) => ({ ...asked, ...((before.isRight || asked.isRight) && { isRight: true }) }),
  schedule: {
    auto: '0 18 0',
    config: Type.Object({ rotate: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) }),
  },
  async run(job, app) {
    const { reason = 'auto', isRight = false } = job.payload
    const { filename, doubt } = await app.backups.create(reason, isRight, job)
    if (isRight) await app.index.settle()
    if (doubt !== undefined) return tellOfDoubt(filename, doubt, job, app)
    const rotate = job.payload.rotate ?? app.schedules.get('run_backup')?.config.rotate
    if (reason === 'auto' && typeof rotate === 'number') await app.backups.rotate(rotate, filename)
    return null
  },
})

async function tellOfDoubt(filename: string, doubt: string, job: JobContext<object>, app: App): Promise<null> {
  const sentence = `${doubt}: this backup is called ${filename}, and no other was replaced or removed. Restore a backup or a snapshot; or, if nothing is missing, say so in the settings under Backups, or with POST /api/backup/ and {"is_right": true}.`
  job.log.error(sentence)
  await app.jobs.notify({
    title: 'Documents are missing',
    group: 'setting:backup',
    level: 'error',
    messages: [sentence],
    shownForSeconds: DOUBT_SHOWN_FOR_SECONDS,
  })
  return null
}

const restoreBackup = defineTask({
  name: 'restore_backup',
  title: 'Restore Backup',
  group: 'setting:restore',
  payload: Type.Object({ filename: Type.String() }),
  lane: 'index',
  unique: true,
  async run(job, app) {
    const { restored, skipped, unknownSettings } = await app.backups.restore(job.payload.filename, job)
    const left = unknownSettings.length ? `; settings not applied: ${unknownSettings.join(', ')}` : ''
    return `${job.payload.filename} restored: ${restored} documents, ${skipped} skipped${left}`
  },
})

const listBackups = defineRoute({
  method: 'GET',
  path: '/api/backup/',
  access: 'admin',
  summary: 'Backup files, newest name first',
  reply: Type.Array(BackupRecord),
  handle: (_input, app) => app.backups.list(),
})

const startBackup = defineRoute({
  method: 'POST',
  path: '/api/backup/',
  access: 'admin',
  summary: 'Make a backup',
  reply: Started,
  body: Type.Object({
    is_right: Type.Optional(
      Type.Boolean({ description: 'Documents that are missing are not missed: this backup is one like others' }),
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

const showBackup = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'One backup file',
  params: FilePath,
  reply: BackupRecord,
  handle: ({ params }, app) => app.backups.record(params.filename),
})

const startRestore = defineRoute({
  method: 'POST',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Replace all documents by those of a backup',
  params: FilePath,
  reply: Type.Object({ message: Type.String(), filename: Type.String(), task_id: Type.String() }),
  errors: ['conflict', 'unprocessable'],
  async handle({ params: { filename }, signal }, app) {
    const job = await app.backups.begin(filename, signal, () => app.jobs.start(restoreBackup, { filename }))
    return { message: 'backup restore task started', filename, task_id: job.id }
  },
})

const takeInBackup = defineRoute({
  method: 'PUT',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Upload a backup file',
  params: FilePath,
  reply: BackupRecord,
  rawBody: { contentType: 'application/zip', maxBodyBytes: 4 * 2 ** 30 },
  errors: ['conflict', 'unprocessable', 'body_too_large', 'unavailable'],
  handle: ({ params, request }, app) => app.backups.takeIn(params.filename, request.stream),
})

const deleteBackup = defineRoute({
  method: 'DELETE',
  path: '/api/backup/:filename/',
  access: 'admin',
  summary: 'Delete a backup file',
  params: FilePath,
  reply: Type.Object({ message: Type.String() }),
  errors: ['conflict'],
  async handle({ params: { filename } }, app) {
    await app.backups.record(filename)
    if (app.backups.restoring(filename)) throw errors.conflict(`${filename} is being restored`)
    await app.backups.remove(filename)
    return { message: `file ${filename} deleted` }
  },
})

const downloadBackup = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/download/',
  access: 'admin',
  summary: 'The zip itself',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'application/zip',
  handle: async ({ params: { filename } }, app) =>
    file(await app.backups.pathOf(filename), 'application/zip', { download: filename }),
})

const Counts = Type.Object({
  backup: Type.Integer(),
  now: Type.Integer(),
  added: Type.Integer(),
  removed: Type.Integer(),
  changed: Type.Integer(),
})
const previewRestore = defineRoute({
  method: 'GET',
  path: '/api/backup/:filename/preview/',
  access: 'admin',
  summary: 'What a restore would change',
  params: FilePath,
  reply: Type.Record(Type.String(), Counts),
  errors: ['unprocessable'],
  handle: ({ params: { filename }, signal }, app) => app.backups.preview(filename, signal),
})

export default definePlugin({
  name: 'backup',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  events: ['index.replaced'],
  routes: [
    listBackups,
    startBackup,
    showBackup,
    startRestore,
    takeInBackup,
    deleteBackup,
    downloadBackup,
    previewRestore,
  ],
  tasks: [runBackup, restoreBackup],
  services: (app) => ({ backups: openBackups(app) }),
  async setup(app) {
    const folder = join(app.settings.dataDir, 'backups')
    if (existsSync(folder)) await openFolder('folder for backups', folder, { isPrivate: true })
    await app.backups.clearUnfinished()
  },
})
