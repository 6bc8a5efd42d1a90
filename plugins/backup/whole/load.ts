/** Copies documents and pictures of a restored backup to index and cache, at the first start after the restore. */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DAY_SECONDS, say, writeWhole } from 'archivolt'
import type { App } from '../app.ts'
import type { Forms } from '../form.ts'
import { replaceDocuments } from '../restoring.ts'
import { DOCUMENTS, pictureFolders, RESTORING } from './contents.ts'

const folderOf = ({ settings }: App): string => join(settings.dataDir, RESTORING)
/** A file with the number of documents that were left out, which the start reports. */
const skippedIn = (app: App): string => join(folderOf(app), 'skipped')

/** May be repeated, because documents are replaced all at once, and pictures are moved one by one. */
export async function loadRestored(app: App, forms: Forms): Promise<void> {
  const zip = join(folderOf(app), DOCUMENTS)
  if (!existsSync(folderOf(app))) return
  if (existsSync(zip)) {
    const work = { id: RESTORING, signal: new AbortController().signal, log: app.log, progress: () => undefined }
    const { report } = await replaceDocuments(app, forms, zip, work, [])
    app.log.info({ restored: report.restored, skipped: report.skipped }, 'the documents of the backup are restored')
    await writeWhole(skippedIn(app), String(report.skipped))
    await rm(zip)
  }
  for (const { name, path } of pictureFolders(app.settings)) await moveBelow(join(folderOf(app), name), path)
}

/** Reports the restore, once all listeners have been registered. */
export async function reportRestored(app: App): Promise<void> {
  if (!existsSync(folderOf(app))) return
  await app.emit('index.replaced', {})
  const count = existsSync(skippedIn(app)) ? Number(await readFile(skippedIn(app), 'utf8')) : 0
  if (count > 0)
    await app.jobs.notify({
      ...{ title: 'The restore is incomplete', group: 'setting:restore', level: 'error', shownForSeconds: DAY_SECONDS },
      messages: [
        say`Documents of the backup that could not be used, and are missing now: ${{ count }}. The log of the server lists the first of them`,
      ],
      isForAdmins: true,
    })
  await rm(folderOf(app), { recursive: true })
}

/** Moves files; existing pictures are not replaced. */
async function moveBelow(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [old, path] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await moveBelow(old, path)
    else if (!existsSync(path)) await move(old, path)
  }
}

/** Moves a file, also to another disk, on which the cache may be. */
async function move(from: string, path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  try {
    await rename(from, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copyFile(from, `${path}.part`)
    await rename(`${path}.part`, path)
  }
}
