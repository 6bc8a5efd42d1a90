/** Bundles a TypeScript program that is often started as a child process, which then starts in a tenth of the time. */
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ROOT } from './sources.ts'

/** @param source  a file named `…-child.ts` @returns the path of a program for plain Node */
export async function bundledChild(source: URL): Promise<string> {
  const path = relative(ROOT, fileURLToPath(source))
  const folder = process.env.TEST_BUNDLE ?? (await ownBundle(path))
  return join(folder, path.replace(/\.ts$/, '.js'))
}

/** For a test file that is run by hand; deleted when this process ends. */
async function ownBundle(path: string): Promise<string> {
  const { bundleTests } = await import('./bundle.ts')
  const place = join(ROOT, '.cache')
  await mkdir(place, { recursive: true })
  const folder = await realpath(await mkdtemp(join(place, 'child-')))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  await bundleTests([path], folder)
  return folder
}
