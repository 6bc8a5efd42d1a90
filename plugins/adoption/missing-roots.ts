/**
 * Reports, when the server starts, which folders of AV_LIBRARY_ROOTS do not exist, because no library in them would be
 * found.
 */
import { stat } from 'node:fs/promises'
import { say, type Words } from 'archivolt'
import type { App } from './app.ts'

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** The missing roots, except the import folder, which is the default and may be missing. */
export async function missingRoots({ media, settings }: App): Promise<string[]> {
  const missing: string[] = []
  for (const root of media.places.roots())
    if (root !== settings.importDir && !(await isFolder(root))) missing.push(root)
  return missing
}

const toWords = (root: string): Words =>
  root.includes(':')
    ? say`AV_LIBRARY_ROOTS names ${{ root }}, which is not a folder here. Separate several folders with commas, not with colons, and restart the server.`
    : say`AV_LIBRARY_ROOTS names ${{ root }}, which is not a folder here. Check the path, and that the container has this folder; then restart the server.`

export async function reportMissingRoots(app: App): Promise<void> {
  for (const root of await missingRoots(app)) {
    app.log.warn({ root }, 'a folder of AV_LIBRARY_ROOTS does not exist')
    await app.jobs.warn('Import', toWords(root))
  }
}
