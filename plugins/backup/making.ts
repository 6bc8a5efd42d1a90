/** Creates a backup, and detects missing documents, so that it replaces no good backup. */
import { epochSeconds, errors, say, sentenceOf, type Words } from 'archivolt'
import type { App } from './app.ts'
import { BadArchive, checkArchive, readEntries, writeArchive } from './archive.ts'
import { type BackupFolder, compactDay } from './backup-folder.ts'
import type { Forms } from './form.ts'
import type { Work } from './work.ts'
import { archiveEntries } from './writing.ts'

export type BackupReason = 'auto' | 'update' | 'manual'
/** The reason in the name of a backup that must not replace any other. */
const LOST = 'lost'

export async function makeBackup(
  app: App,
  folder: BackupFolder,
  forms: Forms,
  reason: BackupReason,
  isRight: boolean,
  job: Work,
): Promise<{ filename: string; doubt: Words | undefined }> {
  const prefix = `${app.settings.prefix}_backup`
  const day = compactDay(epochSeconds(app.clock))
  let doubt: Words | undefined
  const filename = await folder.make(
    `.${prefix}-${day}.zip.${job.id}`,
    (path) => writeArchive(path, archiveEntries(app, forms.written, day, job), new Date(app.clock.now())),
    async (path) => {
      await readBack(path, job)
      if (!isRight) doubt = await doubtAbout(app, folder, path)
      return `${prefix}-${day}-${doubt === undefined ? reason : LOST}.zip`
    },
  )
  return { filename, doubt }
}

/** Verifies a new backup: one made on a failing disk must not replace a good one. @throws unavailable */
async function readBack(path: string, job: Work): Promise<void> {
  try {
    await checkArchive(path, job.signal)
  } catch (cause) {
    if (!(cause instanceof BadArchive)) throw cause
    throw errors.unavailable(
      say`The backup was written but cannot be read back, so it replaces no other: check the disk of the data folder (${{ reason: sentenceOf(cause.words) }})`,
      { cause },
    )
  }
}

/**
 * Why documents seem to be missing in a new archive: the index was lost, or a collection is empty that was not in the
 * last backup.
 */
async function doubtAbout(app: App, folder: BackupFolder, made: string): Promise<Words | undefined> {
  if (app.index.lost) return app.index.lost.reason
  const now = await kindsIn(made)
  const earlier = (await folder.list()).filter(
    ({ filename, reason }) => filename.startsWith(`${app.settings.prefix}_backup-`) && reason !== LOST,
  )
  for (const { filename } of folder.byDay(earlier)) {
    const before = await kindsIn(await folder.pathOf(filename)).catch((error: unknown) => {
      if (!(error instanceof BadArchive)) throw error
      return undefined // another one may be readable
    })
    if (!before) continue
    // Tables of plugins do not count, because they may become empty: an empty queue is not a loss.
    const gone = app.index.definitions.map(({ name }) => name).filter((name) => before.has(name) && !now.has(name))
    return gone.length > 0
      ? say`The archive no longer has any ${{ names: gone.join(', ') }}, but ${{ file: filename }} does`
      : undefined
  }
  return undefined
}

/** Names of the collections with documents in an archive. */
async function kindsIn(path: string): Promise<Set<string>> {
  return new Set((await readEntries(path)).flatMap(({ collection, sizeBytes }) => (sizeBytes > 0 ? [collection] : [])))
}
