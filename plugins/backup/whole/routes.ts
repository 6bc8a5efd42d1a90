/** Backups of everything over HTTP: the list, what was proven of them, preview and restore (contract 9.36). */
import { defineRoute, file, ID_PATTERN, Said, saidOf, Type, tellSecurity } from 'archivolt'
import type { App } from '../app.ts'
import type { RunKind } from './rows.ts'
import { backUpAll, rehearseRestore } from './tasks.ts'
import { WHOLE_PATTERN } from './wholes.ts'

const Count = Type.Integer({ minimum: 0 })
const FilePath = Type.Object({ backupName: Type.String({ pattern: WHOLE_PATTERN, maxLength: 128 }) })
const Unlocking = Type.Object({
  passphrase: Type.Optional(Type.String({ maxLength: 200, description: 'of an encrypted backup' })),
})

const Run = Type.Object({
  file: Type.String({ description: 'of the last that succeeded' }),
  succeeded: Type.Union([Count, Type.Null()], { description: 'epoch seconds; null: not yet' }),
  seconds: Count,
  videos: Count,
  failure: Type.String({ description: 'why the last one failed; empty: it did not' }),
  failing_since: Type.Union([Count, Type.Null()], { description: 'epoch seconds' }),
})

export const listWhole = defineRoute({
  method: 'GET',
  path: '/api/whole/',
  access: 'admin',
  summary: 'Backups of everything, newest first, and the last proof that one can be restored',
  reply: Type.Object({
    backups: Type.Array(
      Type.Object({
        filename: Type.String(),
        bytes: Count,
        made: Type.Integer({ description: 'epoch seconds' }),
        is_encrypted: Type.Boolean(),
      }),
    ),
    backup: Run,
    rehearsal: Run,
    is_backing_up: Type.Boolean(),
    is_rehearsing: Type.Boolean(),
    said: Type.Optional(Said),
  }),
  async handle(_input, app: App) {
    const { runs } = app.wholeBackups
    const [backup, rehearsal] = [runs.last('backup'), runs.last('rehearsal')]
    const { texts, said } = saidOf([backup.failure ?? '', rehearsal.failure ?? ''])
    return {
      backups: (await app.wholeBackups.list()).map(({ isEncrypted, ...one }) => ({
        ...one,
        is_encrypted: isEncrypted,
      })),
      backup: shown('backup', texts[0]!, app),
      rehearsal: shown('rehearsal', texts[1]!, app),
      is_backing_up: app.jobs.active(backUpAll.name) !== undefined,
      is_rehearsing: app.jobs.active(rehearseRestore.name) !== undefined,
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
  summary: 'The file itself',
  params: FilePath,
  reply: Type.Unknown(),
  replyType: 'application/x-tar',
  handle: async ({ params: { backupName: filename } }, app: App) =>
    file(await app.wholeBackups.pathOf(filename), 'application/x-tar', { download: filename }),
})

export const deleteWhole = defineRoute({
  method: 'DELETE',
  path: '/api/whole/:backupName/',
  access: 'admin',
  summary: 'Delete a backup of everything',
  params: FilePath,
  reply: Type.Object({ success: Type.Literal(true) }),
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
  }),
  errors: ['not_found', 'unprocessable'],
  async handle({ params: { backupName: filename }, body: { passphrase }, signal }, app: App) {
    const path = await app.wholeBackups.pathOf(filename)
    const { head, isOwn, documents, accounts } = await app.wholeBackups.preview(path, passphrase, signal)
    const { made_at: made, version, pictures, has_secrets } = head
    return { ...{ made, version, pictures, has_secrets, documents, accounts }, is_own: isOwn }
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
  errors: ['not_found', 'conflict'],
  async handle({ params: { backupName: filename }, body: { passphrase } }, app: App) {
    const { id } = await app.wholeBackups.begin(filename, passphrase)
    tellSecurity(app.log, 'restore', { backup: filename })
    return { task_id: id }
  },
})
