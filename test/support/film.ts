/** Films and pictures of ffmpeg's making. */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const made = new Map<string, Promise<string>>()

/** To be copied: h264 and aac in mp4. */
export const aFilm = (): Promise<string> => once('film.mp4', (path) => makeFilm(path))

/** To be copied, too. */
export const aPicture = (): Promise<string> => once('picture.webp', (path) => makePicture(path))

/** All tests of a process share it. */
function once(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const known = made.get(name)
  if (known) return known
  const making = (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'av-film-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    await make(join(folder, name))
    return join(folder, name)
  })()
  made.set(name, making)
  return making
}

/** @param codecs  options of ffmpeg for other codecs */
export async function makeFilm(path: string, codecs: string[] = ['-c:v', 'libx264', '-c:a', 'aac']): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await run('ffmpeg', [
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    'testsrc=s=320x180:d=1:r=10',
    '-f',
    'lavfi',
    '-i',
    'sine=d=1',
    '-shortest',
    '-pix_fmt',
    'yuv420p',
    ...codecs,
    '-y',
    path,
  ])
}

export async function makePicture(path: string, size = '640x360'): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await run('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', `testsrc2=s=${size}`, '-frames:v', '1', '-y', path])
}
