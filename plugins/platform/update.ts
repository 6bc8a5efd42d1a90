/**
 * A newer yt-dlp at start, on probation: it is used once it has passed a probe and is newer than the one of `make`;
 * else the old one stays.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from 'archivolt'
import type { Tools } from './tools.ts'
import { run } from './verify.ts'

const INSTALL_TIMEOUT_MS = 300_000

/** Never throws: what goes wrong is logged and told to people, and the yt-dlp that is there stays. */
export async function updateDownloader(
  tools: Tools,
  channel: 'stable' | 'nightly',
  log: Log,
  tell: (sentence: string) => Promise<void>,
): Promise<void> {
  const home = join(tools.cacheDir, 'updates')
  try {
    await mkdir(home, { recursive: true })
    await useNewest(tools, home)
    const before = await tools.versionOf()
    const next = join(home, 'next')
    await rm(next, { recursive: true, force: true })
    const { python } = await tools.launch('metadata', null)
    // The new one alone: what it needs beside stays as it was installed and pinned, the solver scripts apart.
    const options = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps', '--upgrade', '--target', next]
    await run(
      python,
      ['-I', '-m', 'pip', 'install', ...options, ...(channel === 'nightly' ? ['--pre'] : []), 'yt-dlp', 'yt-dlp-ejs'],
      INSTALL_TIMEOUT_MS,
    ).catch((cause: unknown) => {
      // Its own words are several lines, with paths of this machine: every account would read them.
      throw new Error('pip could not install it; the log says why', { cause })
    })
    const after = await tools.versionOf([next])
    if (!after) throw new Error('it cannot be loaded')
    if (before && !isNewer(after.version, before.version)) return await rm(next, { recursive: true, force: true })
    await tools.probe([next])
    await rename(next, join(home, folderOf(after.version)))
    await useNewest(tools, home)
    log.info({ version: after.version, before: before?.version }, 'yt-dlp has been updated')
  } catch (error) {
    log.warn({ err: error }, 'yt-dlp could not be updated; the one that is there stays')
    await rm(join(home, 'next'), { recursive: true, force: true })
    await tell(
      `yt-dlp could not be updated (${channel}): ${error instanceof Error ? error.message.split('\n', 1)[0]!.slice(0, 300) : 'unknown reason'}. The installed version stays in use`,
    )
  }
}

const FOLDER = /^yt-dlp-([\d.]+)$/
const folderOf = (version: string): string => `yt-dlp-${version.replace(/[^\d.]/g, '')}`

/**
 * Takes the newest of those that were installed, if it still loads and is newer than what `make` has brought; removes
 * the others.
 */
async function useNewest(tools: Tools, home: string): Promise<void> {
  const installed = (await readdir(home))
    .filter((name) => FOLDER.test(name))
    .sort((a, b) => (isNewer(a.slice(7), b.slice(7)) ? -1 : 1))
  tools.updated = undefined
  const own = await tools.versionOf()
  for (const name of installed) {
    const path = join(home, name)
    const found = tools.updated === undefined ? await tools.versionOf([path]) : undefined
    if (found && (!own || isNewer(found.version, own.version))) tools.updated = { path }
    else await rm(path, { recursive: true, force: true })
  }
  tools.forget()
}

/** Whether one version of numbers and dots is newer than another. */
export function isNewer(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10) || 0),
  ) as [number[], number[]]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
