/**
 * The folders that a server keeps its files in: made and tried at the start, as a download would find out only after
 * hours.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { access, chmod, constants, mkdir, readdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from './error.ts'

interface FolderOptions {
  /** The rights of one that is made, less those of the umask. */
  mode?: number
  /** It and the files in it are for the server's user alone, also where they have been there with other rights. */
  isPrivate?: boolean
  /** The setting that says where it lies. */
  setting?: string
}

/**
 * @param name  what it is, for the sentence: 'library folder'
 * @throws StartError  names the folder, why it cannot be made or written, and what to do
 */
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
    const { code } = cause as NodeJS.ErrnoException
    const { reason, remedy } = OBSTACLES[code ?? ''] ?? { reason: code, remedy: 'correct its permissions' }
    const ways = [remedy, ...(setting === undefined ? [] : [`set ${setting}`])].join(', or ')
    throw new StartError(`The ${name} ${folder} cannot be made or written (${reason}): ${ways}`, { cause })
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
  ENOENT: { reason: 'the system allows no folder there', remedy: 'choose another place' },
  EROFS: { reason: 'that disk is read-only', remedy: 'mount it for writing' },
}

/**
 * With the folders above it. Not `recursive`: where a file system answers ENOENT below a folder that exists, as /proc
 * does, Node asks again without end.
 */
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

/** Of the data folder, core's own. */
const PRIVATE_FOLDERS = ['ledger-copies', 'plugins']

/**
 * Others may go through it, to the library within; its files are closed to them, and so are its other folders.
 * @throws StartError
 */
export async function openDataFolder(dataDir: string): Promise<void> {
  await openFolder('data folder', dataDir, { mode: 0o711, setting: 'AV_DATA_DIR' })
  await closeFilesIn(dataDir)
  for (const name of PRIVATE_FOLDERS)
    if (existsSync(join(dataDir, name))) await openFolder(`folder ${name}`, join(dataDir, name), { isPrivate: true })
}

/** Whatever rights others have to the files of a folder is taken from them; folders in it stay as they are. */
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
    // A file may have gone meanwhile; some file systems know no rights, and another owner's file is that one's to
    // close.
    if (code !== 'ENOENT' && !NOT_POSSIBLE.includes(code)) throw error
  }
}

/** What is written beside and renamed once it is whole, and what SQLite has beside that. */
const UNFINISHED = /\.part(-wal|-shm|-journal)?$/

/** Removes what a process that was cut off has left in a folder of ours; nothing where the folder is not there. */
export function removeUnfinished(folder: string): void {
  if (!existsSync(folder)) return
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isFile() && UNFINISHED.test(entry.name)) rmSync(join(folder, entry.name), { force: true })
}

/** Of the disk that a folder lies on, in bytes; `free` is what is left for us. */
export async function diskSpace(folder: string): Promise<{ free: number; total: number }> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}
