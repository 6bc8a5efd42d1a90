/** A real file system of a few megabytes for one test, to fill it up. */
import { execFile } from 'node:child_process'
import { mkdtemp, open, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { lastFirst } from './last-first.ts'

const run = promisify(execFile)

export interface SmallDisk {
  path: string
  /** Changes its size and keeps its content. */
  resize(bytes: number): Promise<void>
  setReadOnly(isReadOnly: boolean): Promise<void>
  freeBytes(): Promise<number>
  /**
   * Fills the free space, or all but this many bytes of it.
   * @returns frees it again
   */
  fill(leaveBytes?: number): Promise<() => Promise<void>>
}

/** @returns undefined if this user may not mount one: the test is skipped with the reason */
export async function smallDisk(t: TestContext, bytes: number): Promise<SmallDisk | undefined> {
  const path = await mkdtemp(join(tmpdir(), 'av-disk-'))
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', path])
  } catch (error) {
    await rm(path, { recursive: true })
    t.skip(`a small file system cannot be mounted: ${(error as Error).message.split('\n')[1] ?? 'only root may'}`)
    return undefined
  }
  lastFirst(t).after(async () => {
    await run('umount', ['-l', path])
    await rm(path, { recursive: true, force: true })
  })
  const freeBytes = async () => {
    const { bavail, bsize } = await statfs(path)
    return bavail * bsize
  }
  return {
    path,
    freeBytes,
    resize: async (size) => void (await run('mount', ['-o', `remount,size=${size}`, path])),
    setReadOnly: async (is) => void (await run('mount', ['-o', `remount,${is ? 'ro' : 'rw'}`, path])),
    async fill(leaveBytes = 0) {
      const file = join(path, `filler-${performance.now()}`)
      const handle = await open(file, 'w')
      try {
        for (let left = (await freeBytes()) - leaveBytes; left > 0; left = (await freeBytes()) - leaveBytes)
          await handle.appendFile(Buffer.alloc(Math.min(left, 1 << 20)))
      } finally {
        await handle.close()
      }
      return () => rm(file, { force: true })
    },
  }
}
