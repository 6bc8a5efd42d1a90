/** Tests a restore: a second process restores the newest backup into a separate folder, and the result is compared. */
import { existsSync } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { errors, runProgram, say, type Words } from 'archivolt'
import type { App } from '../app.ts'
import type { Comparison } from './compare.ts'

export interface Rehearsed {
  file: string
  seconds: number
  documents: Record<string, number>
}

type Run = { signal: AbortSignal; progress: (done: number, what: Words) => void }

/** @throws conflict: there is no backup; unprocessable: the fault of the newest one */
export async function rehearse({ signal, progress }: Run, app: App): Promise<Rehearsed> {
  const newest = await app.wholeBackups.newestOwn()
  if (!newest) throw errors.conflict('There is no backup of everything yet: make one under Settings → Safety')
  const path = await app.wholeBackups.pathOf(newest.filename)
  const startedMs = performance.now()
  const dataDir = rehearsalFolder(app)
  await rm(dataDir, { recursive: true, force: true })
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  // Includes the external plugins, because they restore their own documents.
  const added = join(app.settings.dataDir, 'plugins')
  if (existsSync(added)) await symlink(added, join(dataDir, 'plugins'))
  try {
    const run = { dataDir, input: `${app.preferences.section('backups').passphrase}\n`, signal }
    progress(0, say`Restoring ${{ name: newest.filename }} into a separate folder`)
    const restored = await runProgram(['restore', path, '--yes', '--no-pictures'], run)
    if (restored.code !== 0) throw failed(newest.filename, restored.complaint)
    progress(0.5, say`Comparing what was restored`)
    const compared = await runProgram(['compare', path, '--json'], run)
    const found = comparisonIn(compared.output)
    if (!found) throw failed(newest.filename, compared.complaint)
    if (found.wrong.length > 0)
      throw errors.unprocessable(
        say`The restored archive differs from the backup ${{ name: newest.filename }}: ${{ what: found.wrong.join(', ') }}`,
      )
    mustBeAll(found, newest.filename, app)
    progress(0.9, say`Opening video files`)
    await openFilms(found.films, app)
    const documents = Object.fromEntries(Object.entries(found.documents).map(([name, { here }]) => [name, here]))
    return { file: newest.filename, seconds: Math.round((performance.now() - startedMs) / 1000), documents }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Removes what a killed rehearsal has left. */
export const rehearsalFolder = ({ settings }: App): string => join(settings.dataDir, '.rehearsal')

const failed = (name: string, complaint: string) =>
  errors.unprocessable(
    say`The backup ${{ name }} cannot be restored: ${{ reason: complaint.trim().split('\n').at(-1) ?? '' }}`,
  )

function comparisonIn(output: string): Comparison | undefined {
  try {
    return JSON.parse(output.trim().split('\n').at(-1) ?? '') as Comparison
  } catch {
    return undefined
  }
}

/** Compares the restored documents with the numbers that the ledger has recorded for this backup. */
function mustBeAll({ documents }: Comparison, filename: string, { wholeBackups }: App): void {
  const written = wholeBackups.runs.last('backup')
  if (written.file !== filename) return
  for (const [name, count] of Object.entries(written.documents))
    if (documents[name]?.here !== count)
      throw errors.unprocessable(
        say`The backup ${{ name: filename }} has ${{ count: documents[name]?.here ?? 0 }} of ${{ all: count }} documents (${{ kind: name }})`,
      )
}

/**
 * Opens the films of some videos. Skips videos that were removed since the backup, and all if the library is offline.
 */
async function openFilms(ids: readonly string[], app: App): Promise<void> {
  if ((await app.media.absence()) !== undefined) return
  const { definitions } = app.index
  const videos = app.index.collection(definitions.find(({ name }) => name === 'video')!)
  const channels = await videos.getMany(ids)
  for (const [id, doc] of channels) {
    const path = app.media.recordedPath(String((doc as Record<string, unknown>)['channel_id']), id)
    if (!(await app.media.isThere(path))) throw errors.unprocessable(say`The video file of ${{ id }} is missing`)
    await app.media.probe(path).catch((cause: unknown) => {
      throw errors.unprocessable(say`The video file of ${{ id }} cannot be opened`, { cause })
    })
  }
}
