/** A disk on which names that differ in case alone are one name, as on macOS, Windows and most shares of theirs. */
import { execFile } from 'node:child_process'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'
import { lastFirst } from './last-first.ts'

const run = promisify(execFile)
const BYTES = 32 << 20

/** @returns a folder on it; undefined: this machine has none, and the test is skipped with the reason */
export async function foldingDisk(t: TestContext): Promise<string | undefined> {
  const folder = await temporaryFolder(t)
  const [image, path] = [join(folder, 'image'), join(folder, 'disk')]
  await writeFile(image, '')
  await truncate(image, BYTES)
  await mkdir(path)
  try {
    await run('mkfs.ext4', ['-q', '-O', 'casefold', '-E', 'encoding=utf8', image])
    await run('mount', ['-o', 'loop', image, path])
    lastFirst(t).after(async () => void (await run('umount', ['-l', path])))
    const folded = join(path, 'folded')
    await mkdir(folded)
    await run('chattr', ['+F', folded])
    return folded
  } catch (error) {
    t.skip(`no disk that folds case can be mounted: ${(error as Error).message.trim().split('\n').at(-1)}`)
    return undefined
  }
}
