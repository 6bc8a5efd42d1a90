/** Routes for backups of everything: the list, the results of rehearsals, preview and restore (contract 9.36). */
import { defineRoute, errors, file, ID_PATTERN, Said, saidOf, Type, tellSecurity } from 'archivolt'
import type { App } from '../app.ts'
import { ASIDE_DAYS, ASIDE_PATTERN, dropReplaced, dropWaiting, listReplaced, waitingSince } from './aside.ts'
import type { RunKind } from './rows.ts'
import { backUpAll, rehearseRestore } from './tasks.ts'
import { checkStart } from './upload.ts'
import { WHOLE_PATTERN, type WholeRecord } from './wholes.ts'

const Count = Type.Integer({ minimum: 0 })
const FilePath = Type.Object({ backupName: Type.String({ pattern: WHOLE_PATTERN, maxLength: 128 }) })
const Unlocking = Type.Object({
  passphrase: Type.Optional(Type.String({ maxLength: 200, description: 'of an encrypted backup' })),
})

const Run = Type.Object({
  file: Type.String({ description: 'of the last run that succeeded' }),
  succeeded: Type.Union([Count, Type.Null()], { description: 'epoch seconds; null: not yet' }),
  seconds: Count,
  videos: Count,
  failure: Type.String({ description: 'why the last run failed; empty: it succeeded' }),
  failing_since: Type.Union([Count, Type.Null()], { description: 'epoch seconds' }),
})

const Stored = Type.Object({
  filename: Type.String(),
  bytes: Count,
  made: Type.Integer({ description: 'epoch seconds' }),
  is_encrypted: Type.Boolean(),
})
const shownFile = ({ isEncrypted, ...one }: WholeRecord) => ({ ...one, is_encrypted: isEncrypted })

export const listWhole = defineRoute({
  method: 'GET',
  path: '/api/whole/',
  access: 'admin',
  summary: 'Backups of everything, newest first, and the last test restore',
  reply: Type.Object({
    backups: Type.Array(Stored),
    backup: Run,
    rehearsal: Run,
    is_backing_up: Type.Boolean(),
    is_rehearsing: Type.Boolean(),
    waiting_since: Type.Union([Count, Type.Null()], {
      description: 'epoch seconds: a restore waits for the next start of the server; null: none',
    }),
    aside: Type.Array(Type.Object({ name: Type.String(), bytes: Count, at: Count }), {
      description: 'folders with the data that restores have replaced, newest first',
    }),
    aside_days: Count,
    said: Type.Optional(Said),
  }),
  async handle(_input, app: App) {
    const { runs } = app.wholeBackups
    const [backup, rehearsal] = [runs.last('backup'), runs.last('rehearsal')]
    const { texts, said } = saidOf([backup.failure ?? '', rehearsal.failure ?? ''])
    return {
      backups: (await app.wholeBackups.list()).map(shownFile),
      backup: shown('backup', texts[0]!, app),
      rehearsal: shown('rehearsal', texts[1]!, app),
      is_backing_up: app.jobs.active(backUpAll.name) !== undefined,
      is_rehearsing: app.jobs.active(rehearseRestore.name) !== undefined,
      waiting_since: waitingSince(app) ?? null,
      aside: await listReplaced(app),
      aside_days: ASIDE_DAYS,
      said,
    }
  },
})

function shown(kind: RunKind, failure: string, { wholeBackups }: App) {
  const { file, succeededAt, seconds, documents, failingSince } = wholeBackups.runs.last(kind)
  return {
    ...{ file, failure, seconds: Math.round(seconds), videos: documents['video'] ?? 0 },
    succeeded: succeededAt || null,
    failing_since: failingSince || null,
  }
}

export const downloadWhole = defineRoute({
  method: 'GET',
  path: '/api/whole/:backupName/download/',
  access: 'admin',
  scope: 'admin',
  summary: 'The backup file',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'application/x-tar',
  handle: async ({ params: { backupName: filename } }, app: App) =>
    file(await app.wholeBackups.pathOf(filename), 'application/x-tar', { download: filename }),
})

/** More bytes than any disk has, because the limit is the free space. */
const MOST_BYTES = 2 ** 50

export const uploadWhole = defineRoute({
  method: 'PUT',
  path: '/api/whole/:backupName/',
  access: 'admin',
  summary: 'Upload a backup of everything, which is read to its end before it is accepted',
  params: FilePath,
  query: {
    start: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          'Size of the whole file in bytes, if the body is only its beginning, which is checked but not stored',
      }),
    ),
  },
  rawBody: { contentType: 'application/octet-stream', maxBodyBytes: MOST_BYTES },
  reply: Type.Union([Stored, Type.Object({ success: Type.Literal(true) })]),
  errors: ['conflict', 'unprocessable', 'body_too_large', 'unavailable'],
  async handle({ params: { backupName: filename }, query: { start }, request, signal }, app: App) {
    const { headers, stream: content } = request
    const bytes = start ?? Number(headers['content-length'] ?? 0)
    const upload = { filename, content, bytes, signal, passphrase: passphraseIn(headers['x-passphrase']) }
    if (!start) return shownFile(await app.wholeBackups.takeIn(upload))
    await checkStart(upload, app)
    return { success: true as const }
  },
})

/** The passphrase, which is percent-encoded because headers are ASCII. */
function passphraseIn(header: string | undefined): string | undefined {
  try {
    return header && decodeURIComponent(header)
  } catch (cause) {
    throw errors.badRequest('X-Passphrase must be percent-encoded', { cause })
  }
}

export const deleteWhole = defineRoute({
  method: 'DELETE',
  path: '/api/whole/:backupName/',
  access: 'admin',
  summary: 'Delete a backup of everything',
  params: FilePath,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['conflict'],
  async handle({ params: { backupName: filename } }, app: App) {
    await app.wholeBackups.remove(filename)
    return { success: true as const }
  },
})

const Changes = Type.Object({ backup: Count, now: Count, added: Count, removed: Count, changed: Count })
const Names = Type.Array(Type.String())

export const previewWhole = defineRoute({
  method: 'POST',
  path: '/api/whole/:backupName/preview/',
  access: 'admin',
  summary: 'What a restore of everything would change',
  params: FilePath,
  body: Unlocking,
  reply: Type.Object({
    made: Count,
    version: Type.String(),
    is_own: Type.Boolean({ description: 'made with the secret key of this installation' }),
    has_secrets: Type.Boolean({ description: 'with the secret key, the cookie and the settings' }),
    pictures: Count,
    documents: Type.Record(Type.String(), Changes),
    accounts: Type.Object({ added: Names, replaced: Names, removed: Names }),
    missing: Type.Array(Type.Object({ plugin: Type.String(), documents: Count }), {
      description: 'plugins that are not installed: their documents would be skipped',
    }),
  }),
  errors: ['not_found', 'unprocessable'],
  async handle({ params: { backupName: filename }, body: { passphrase }, signal }, app: App) {
    const path = await app.wholeBackups.pathOf(filename)
    const { head, isOwn, documents, accounts, missing } = await app.wholeBackups.preview(path, passphrase, signal)
    const { made_at: made, version, pictures, has_secrets } = head
    return { ...{ made, version, pictures, has_secrets, documents, accounts, missing }, is_own: isOwn }
  },
})

export const restoreWhole = defineRoute({
  method: 'POST',
  path: '/api/whole/:backupName/',
  access: 'admin',
  summary: 'Prepare a restore of everything, which the next start of the server applies',
  params: FilePath,
  body: Unlocking,
  reply: Type.Object({ task_id: Type.String({ pattern: ID_PATTERN }) }),
  errors: ['not_found', 'conflict', 'permission_denied'],
  async handle({ params: { backupName: filename }, body: { passphrase }, actor }, app: App) {
    app.signIns.refuseUnproven(actor)
    const { id } = await app.wholeBackups.begin(filename, passphrase)
    tellSecurity(app.log, 'restore', { backup: filename })
    return { task_id: id }
  },
})

export const dropRestore = defineRoute({
  method: 'DELETE',
  path: '/api/whole/restore/',
  access: 'admin',
  summary: 'Discard a prepared restore: the next start keeps the current data',
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle(_input, app: App) {
    await dropWaiting(app)
    return { success: true as const }
  },
})

export const deleteReplaced = defineRoute({
  method: 'DELETE',
  path: '/api/whole/aside/:folderName/',
  access: 'admin',
  summary: 'Delete a folder with the data that a restore has replaced',
  params: Type.Object({ folderName: Type.String({ pattern: ASIDE_PATTERN, maxLength: 64 }) }),
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found'],
  async handle({ params: { folderName } }, app: App) {
    await dropReplaced(folderName, app)
    return { success: true as const }
  },
})
