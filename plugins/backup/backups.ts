/** The service `backups`: creates, reads, compares and restores backups (contract 9.10). */
import type { Readable } from 'node:stream'
import { errors, type Job, openLocks, restoreRuns, say, sentenceOf, type Words } from 'archivolt'
import { type Accept, acceptDocuments } from './accept.ts'
import type { App } from './app.ts'
import { BadArchive, readEntries } from './archive.ts'
import { type BackupFolder, type BackupRecord, openBackupFolder } from './backup-folder.ts'
import { openForms } from './form.ts'
import { type BackupReason, makeBackup } from './making.ts'
import { holdsSomething } from './reading.ts'
import {
  type CollectionChanges,
  NOTHING_IN_IT,
  previewRestore,
  type RestoreReport,
  restoreBackup,
} from './restoring.ts'
import type { WholeBackups } from './whole/wholes.ts'
import type { Work } from './work.ts'

/** Tasks that replace all documents. */
const RESTORES = ['restore_backup', 'restore_snapshot']

interface Backups extends Pick<BackupFolder, 'list' | 'record' | 'pathOf' | 'rotate' | 'remove' | 'clearUnfinished'> {
  /**
   * Creates a backup; one of the same day and reason is replaced when the new one is complete.
   * @param isRight  somebody has confirmed that no document is missing
   * @returns its name; `doubt`: documents seem to be missing, so the backup got a name that replaces no other
   */
  create(reason: BackupReason, isRight: boolean, job: Work): Promise<{ filename: string; doubt: Words | undefined }>
  /**
   * Stores an upload.
   * @throws not_found (name), conflict, body_too_large, unprocessable, unavailable (the disk is full)
   */
  takeIn(filename: string, content: Readable): Promise<BackupRecord>
  /** What a restore would change, by collection. Changes nothing. @throws unprocessable */
  preview(filename: string, signal: AbortSignal): Promise<Record<string, CollectionChanges>>
  /**
   * Starts a restore as a job. @throws not_found, conflict (a restore is running), unprocessable: not a readable
   * archive, or an empty one
   */
  begin(filename: string, signal: AbortSignal, start: () => Promise<Job>): Promise<Job>
  restore(filename: string, job: Work): Promise<RestoreReport>
  /** The running restore of this file, if there is one. */
  restoring(filename: string): Job | undefined
  /** Whether a restore of a backup or a snapshot waits or runs. */
  isRestoring(): boolean
  /**
   * Starts a restore of a backup or a snapshot, unless another one is starting.
   * @throws conflict  another restore is starting, waits or runs
   */
  startRestore<Result>(start: () => Promise<Result>): Promise<Result>
  /**
   * Runs restores and backups of everything one at a time, so that no backup mixes documents from before and after a
   * restore.
   */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
  /** Checks a document of a backup or snapshot before it is restored. */
  accept: Accept
}

export function openBackups(app: App): Backups {
  const folder = openBackupFolder(app)
  const accept = acceptDocuments(app)
  const forms = openForms(app, accept)
  const locks = openLocks()
  let isStarting = false

  const mustBeReadable = async (path: string): Promise<void> => {
    try {
      forms.mustRead(await readEntries(path))
    } catch (error) {
      refuse(error)
    }
  }

  const isRestoring = (): boolean => RESTORES.some((task) => app.jobs.active(task) !== undefined)

  async function startRestore<Result>(start: () => Promise<Result>): Promise<Result> {
    if (isStarting || isRestoring()) throw restoreRuns()
    isStarting = true
    try {
      return await start()
    } finally {
      isStarting = false
    }
  }

  const alone: Backups['alone'] = (work) => locks.exclusive('documents', work)

  return {
    ...folder,
    isRestoring,
    startRestore,
    alone,
    accept,
    create: (reason, isRight, job) => makeBackup(app, folder, forms, reason, isRight, job),
    takeIn: (filename, content) => folder.takeIn(filename, content, mustBeReadable),

    async preview(filename, signal) {
      const path = await folder.pathOf(filename)
      await mustBeReadable(path)
      return previewRestore(app, forms, path, signal).catch(refuse)
    },

    async begin(filename, signal, start) {
      const path = await folder.pathOf(filename)
      return startRestore(async () => {
        await mustBeReadable(path)
        if (!(await holdsSomething(app, forms, path, signal).catch(refuse))) throw errors.unprocessable(NOTHING_IN_IT)
        return start()
      })
    },

    async restore(filename, job) {
      const path = await folder.pathOf(filename)
      return alone(() => restoreBackup(app, forms, path, job)).catch(refuse)
    },

    restoring(filename) {
      const job = app.jobs.active('restore_backup')
      return job?.payload.filename === filename ? job : undefined
    },
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof BadArchive)) throw error
  throw errors.unprocessable(say`This backup cannot be read: ${{ reason: sentenceOf(error.words) }}`, {
    cause: error,
  })
}

declare module 'archivolt' {
  interface Services {
    backup: {
      backups: Backups
      /** Backups of everything. */
      wholeBackups: WholeBackups
    }
  }
  interface Events {
    /**
     * Emitted after a restore has replaced all documents, and at a start that finds an older index than the ledger was
     * last used with: data about single documents may refer to missing ones.
     */
    'index.replaced': Record<string, never>
  }
}
