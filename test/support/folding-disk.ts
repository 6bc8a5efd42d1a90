/**
 * A file system on which names that differ only in case are the same name, as on macOS, Windows and most network
 * shares: ext4 if the system can fold case, else exFAT by FUSE (`apt-get install exfat-fuse exfatprogs`), which gives
 * one file another inode number for each spelling. Both need root.
 */
import { execFile } from 'node:child_process'
import { mkdir, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'
import { lastFirst, type Scope } from './last-first.ts'

const run = promisify(execFile)
const BYTES = 32 << 20

type Way = (image: string, path: string, scope: Scope) => Promise<string>

const unmounting = (path: string) => async () => void (await run('umount', ['-l', path]))

const ext4: Way = async (image, path, scope) => {
  await run('mkfs.ext4', ['-q', '-F', '-O', 'casefold', '-E', 'encoding=utf8', image])
  await run('mount', ['-o', 'loop', image, path])
  scope.after(unmounting(path))
  const folded = join(path, 'folded')
  await mkdir(folded)
  await run('chattr', ['+F', folded])
  return folded
}

const exfat: Way = async (image, path, scope) => {
  await run('mkfs.exfat', [image])
  const device = (await run('losetup', ['--find', '--show', image])).stdout.trim()
  scope.after(async () => void (await run('losetup', ['--detach', device])))
  await run('mount.exfat-fuse', [device, path])
  scope.after(unmounting(path))
  return path
}

/** @returns a folder on it; undefined if this machine cannot provide one: the test is skipped with the reasons */
export async function foldingDisk(t: TestContext): Promise<string | undefined> {
  const [folder, scope] = [await temporaryFolder(t), lastFirst(t)]
  const reasons: string[] = []
  for (const [name, way] of Object.entries({ ext4, exfat })) {
    const [image, path] = [join(folder, name), join(folder, `${name}-disk`)]
    await writeFile(image, '')
    await truncate(image, BYTES)
    await mkdir(path)
    try {
      return await way(image, path, scope)
    } catch (error) {
      reasons.push(`${name}: ${(error as Error).message.trim().split('\n').at(-1)}`)
    }
  }
  t.skip(`no disk that folds case can be mounted (${reasons.join('; ')})`)
  return undefined
}
