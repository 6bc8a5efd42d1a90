/** Creates films and pictures with ffmpeg. A test that imports this file needs ffmpeg and ffprobe (`needs.ts`). */
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const CODECS = ['-c:v', 'libx264', '-c:a', 'aac']
const SIGHT = ['-f', 'lavfi', '-i', 'testsrc=s=320x180:d=1:r=10']
const SOUND = ['-f', 'lavfi', '-i', 'sine=d=1']
const filmOf = (codecs: string[]) => [...SIGHT, ...SOUND, '-shortest', '-pix_fmt', 'yuv420p', ...codecs]
const pictureOf = (size: string) => ['-f', 'lavfi', '-i', `testsrc2=s=${size}`, '-frames:v', '1']

/** All tests of a process share each created file, by its name and options. */
const made = new Map<string, Promise<string>>()

/** @param codecs  options of ffmpeg for other codecs */
export const makeFilm = async (path: string, codecs: string[] = CODECS): Promise<void> =>
  layDown(path, await once(`film${extname(path)}`, filmOf(codecs)))

export const makePicture = async (path: string, size = '640x360'): Promise<void> =>
  layDown(path, await once(`picture${extname(path)}`, pictureOf(size)))

/** Writes other tags into a copy of a film; the streams are the same. */
export const retag = async (from: string, to: string, title: string): Promise<void> => {
  await run('ffmpeg', ['-v', 'error', '-i', from, '-map', '0', '-c', 'copy', '-metadata', `title=${title}`, '-y', to])
}

async function layDown(path: string, made: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await copyFile(made, path)
}

function once(name: string, options: string[]): Promise<string> {
  const key = [name, ...options].join(' ')
  const known = made.get(key)
  if (known) return known
  const making = (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'av-film-'))
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, name)
    await run('ffmpeg', ['-v', 'error', ...options, '-y', path])
    return path
  })()
  made.set(key, making)
  return making
}
