/**
 * A separate disk for the library that can disappear and fill up: a small file system in memory, bound to the media
 * folder.
 */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lastFirst, type Scope } from '../support/last-first.ts'

const run = promisify(execFile)

export interface Disk {
  /** The mount point, used as AV_MEDIA_DIR. */
  mediaDir: string
  /** Unmounts the disk, as if its cable were pulled; open files remain usable. An empty folder is left. */
  leave(): Promise<void>
  /**
   * Mounts it again, over whatever was written into the empty folder.
   * @returns the paths of these files
   */
  comeBack(): Promise<string[]>
  /** Fills it up to this many free bytes. */
  fill(freeBytes: number): Promise<void>
  empty(): Promise<void>
}

/** @returns the disk, or the reason why there can be none */
export async function openDisk(scope: Scope, sizeMb: number): Promise<Disk | string> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-disk-'))
  const [disk, mediaDir, filler] = [join(folder, 'disk'), join(folder, 'media'), join(folder, 'disk/filler')]
  await mkdir(disk)
  await mkdir(mediaDir)
  const problem = await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'archivolt-soak', disk]).then(
    () => undefined,
    (error: Error) => error.message.trim(),
  )
  if (problem !== undefined) {
    await rm(folder, { recursive: true })
    return `disks neither vanish nor fill: a file system can be mounted by root alone (${problem.split('\n').at(-1)})`
  }
  let isThere = false
  const detach = async () => {
    if (isThere) await run('umount', ['-l', mediaDir])
    isThere = false
  }
  lastFirst(scope).after(async () => {
    await detach()
    await run('umount', ['-l', disk])
    await rm(folder, { recursive: true, force: true })
  })
  const library = join(disk, 'library')
  await mkdir(library)
  const attach = async () => {
    if (!isThere) await run('mount', ['--bind', library, mediaDir])
    isThere = true
  }
  await attach()
  return {
    mediaDir,
    leave: detach,
    async comeBack() {
      if (isThere) return []
      const strays = await readdir(mediaDir, { recursive: true })
      for (const name of await readdir(mediaDir)) await rm(join(mediaDir, name), { recursive: true })
      await attach()
      return strays
    },
    async fill(freeBytes) {
      await rm(filler, { force: true })
      const { bavail, bsize } = await statfs(disk)
      if (bavail * bsize > freeBytes) await run('fallocate', ['-l', String(bavail * bsize - freeBytes), filler])
    },
    empty: () => rm(filler, { force: true }),
  }
}
