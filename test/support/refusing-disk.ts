/** A file system that refuses some operations, by FUSE (on Debian: apt-get install python3-fusepy). It needs root. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from './folder.ts'
import { run } from './installed.ts'
import { lastFirst } from './last-first.ts'
import { ROOT } from './sources.ts'

const PROGRAM = join(ROOT, 'test/support/refusing-disk.py')
const ASKED_EVERY_MS = 50

/**
 * @param refused  by their names in FUSE: `link`, `symlink`, `rename`
 * @returns a folder on it; undefined if this machine cannot provide one: the test is skipped with the reason
 */
export async function refusingDisk(t: TestContext, refused: readonly string[]): Promise<string | undefined> {
  const parent = await temporaryFolder(t)
  const [folder, path] = [join(parent, 'folder'), join(parent, 'disk')]
  await mkdir(folder)
  await mkdir(path)
  const child = spawn('/usr/bin/python3', [PROGRAM, folder, path, ...refused], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => void (said += chunk))
  const ended = once(child, 'close').then(
    () => true,
    () => true,
  )
  while (!(await readFile('/proc/mounts', 'utf8').catch(() => '')).includes(` ${path} `)) {
    if (!(await Promise.race([ended, delay(ASKED_EVERY_MS, false)]))) continue
    t.skip(
      `no disk can be mounted by FUSE: ${said.trim().split('\n').at(-1)} (on Debian: apt-get install python3-fusepy)`,
    )
    return undefined
  }
  lastFirst(t).after(async () => {
    await run('umount', ['-l', path])
    await ended
  })
  return path
}
