/**
 * Chooses the folder for the temporary files of a run: in memory if there is plenty, because tests mostly wait for a
 * disk that confirms each write.
 */
import { chmod, mkdtemp, readFile, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
/** This much is free on a machine with 8 GB. Tests need a tenth of it at any time. */
const PLENTY_BYTES = 3 << 30

/** @returns a folder for TMPDIR; the caller removes it */
export async function runFolder(): Promise<string> {
  const place = process.env.TMPDIR === undefined && (await hasRoom()) ? MEMORY : tmpdir()
  const folder = await mkdtemp(join(place, 'av-tests-'))
  // Servers that run as another user must be able to enter it.
  await chmod(folder, 0o711)
  return folder
}

async function hasRoom(): Promise<boolean> {
  const mounts = await readFile('/proc/mounts', 'utf8').catch(() => '')
  const [, type, options = ''] = new RegExp(`^\\S+ ${MEMORY} (\\S+) (\\S+)`, 'm').exec(mounts) ?? []
  // Tests start programs that they have written there.
  if (type !== 'tmpfs' || options.split(',').includes('noexec')) return false
  const { bavail, bsize } = await statfs(MEMORY)
  return bavail * bsize >= PLENTY_BYTES
}
