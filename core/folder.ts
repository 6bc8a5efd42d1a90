/** Creates and tests the server's folders at the start, because a download would notice a problem only after hours. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { access, chmod, constants, mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from './start-error.ts'

interface FolderOptions {
  /** Mode of a new folder, before the umask. */
  mode?: number
  /** Restricts the folder and its files to the server's user, even if they already existed with other modes. */
  isPrivate?: boolean
  /** The setting with its path. */
  setting?: string
}

/** @param name  for the sentence: 'library folder'. @throws StartError  the folder, the reason and the remedy */
export async function openFolder(
  name: string,
  folder: string,
  { isPrivate = false, mode = isPrivate ? 0o700 : undefined, setting }: FolderOptions = {},
): Promise<void> {
  try {
    await makeFolders(folder, mode)
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    if (isPrivate) {
      await closeToOthers(folder)
      await closeFilesIn(folder)
    }
  } catch (cause) {
    const { reason, remedy } = obstacleOf(cause)
    const ways = [remedy, ...(setting === undefined ? [] : [`set ${setting}`])].join(', or ')
    throw new StartError(`The ${name} ${folder} cannot be created or written (${reason}): ${ways}`, { cause })
  }
}

interface Obstacle {
  reason: string
  remedy: string
}
const TAKEN: Obstacle = { reason: 'a file is in the way', remedy: 'move it away' }
const OBSTACLES: Record<string, Obstacle> = {
  EEXIST: TAKEN,
  ENOTDIR: TAKEN,
  ENOENT: { reason: 'the system does not allow a folder here', remedy: 'choose another location' },
  EROFS: { reason: 'that disk is read-only', remedy: 'mount it for writing' },
}

export function obstacleOf(cause: unknown): Obstacle {
  const { code = String(cause) } = cause as NodeJS.ErrnoException
  return OBSTACLES[code] ?? { reason: code, remedy: 'correct its permissions' }
}

/** Not `recursive`: where a file system answers ENOENT below a folder, as /proc does, Node retries forever. */
export async function makeFolders(folder: string, mode?: number): Promise<void> {
  const parent = dirname(folder)
  if (!existsSync(parent)) await makeFolders(parent, mode)
  try {
    await mkdir(folder, { mode })
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(folder)).isDirectory()
    if (!isThere) throw error
  }
}

/** Core's own folders in the data folder. */
const PRIVATE_FOLDERS = ['ledger-copies', 'plugins']

/** Other users may traverse the data folder to reach the library, but not read its files. @throws StartError */
export async function openDataFolder(dataDir: string): Promise<void> {
  await openFolder('data folder', dataDir, { mode: 0o711, setting: 'AV_DATA_DIR' })
  await closeFilesIn(dataDir)
  for (const name of PRIVATE_FOLDERS)
    if (existsSync(join(dataDir, name))) await openFolder(`folder ${name}`, join(dataDir, name), { isPrivate: true })
}

/** Removes other users' rights to the files in a folder; its subfolders stay unchanged. */
async function closeFilesIn(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isFile()) await closeToOthers(join(folder, entry.name))
}

const NOT_POSSIBLE = ['EPERM', 'EROFS', 'ENOTSUP', 'ENOSYS']

async function closeToOthers(path: string): Promise<void> {
  try {
    const { mode } = await stat(path)
    if (mode & 0o077) await chmod(path, mode & 0o700)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    // The file may be gone; some file systems have no modes; a file of another owner cannot be changed.
    if (code !== 'ENOENT' && !NOT_POSSIBLE.includes(code)) throw error
  }
}

/** Temporary files that are renamed once complete, and SQLite's companions of them. */
const UNFINISHED = /\.part(-wal|-shm|-journal)?$/

/** Removes temporary files that an interrupted process left in a folder; does nothing without the folder. */
export function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile() && UNFINISHED.test(entry.name)) rmSync(join(folder, entry.name), { force: true })
}

/** Size of the disk of a folder, in bytes; `free` is what is available to this user. */
export async function diskSpace(folder: string): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
