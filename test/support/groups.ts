/** Which test files share a process, and in which order: one that takes long begins early, short ones fill the end. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLight, type TestFile } from './needs.ts'
import { ROOT } from './sources.ts'

/** What the last run of each file took, in milliseconds, by its path. */
export const TIMES_FILE = join(ROOT, '.cache/test-times.json')
/** Of a file that has not run here yet. */
const LIGHT_MS = 1000
const HEAVY_MS = 30_000
/** A process for less is not worth its start, and its first server: three quarters of a second of a processor. */
const LEAST_MS = 10_000
/** Nor one for less than this part of what a job has to do; times are long on a busy machine. */
const LEAST_PART = 1 / 3
/** One that takes much longer than this hangs, on a slow machine too. */
const MOST_MS = 120_000

export function knownTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES_FILE, 'utf8')) as Record<string, number>
  } catch {
    return {} // none yet
  }
}

/**
 * Groups grow smaller: whichever job is free takes the next one, and all end at about the same time.
 * @param jobs  so many groups go on at once
 */
export function groupsOf(files: readonly TestFile[], times: Record<string, number>, jobs: number): TestFile[][] {
  const msOf = (file: TestFile): number => times[file.path] ?? (isLight(file) ? LIGHT_MS : HEAVY_MS)
  const left = files.toSorted((a, b) => msOf(b) - msOf(a) || (a.path < b.path ? -1 : 1))
  const groups: TestFile[][] = []
  let leftMs = left.reduce((sum, file) => sum + msOf(file), 0)
  const leastMs = Math.max(LEAST_MS, (leftMs / jobs) * LEAST_PART)
  while (left.length > 0) {
    const fullMs = Math.min(MOST_MS, Math.max(leastMs, leftMs / (2 * jobs)))
    const group: TestFile[] = []
    for (let ms = 0; left.length > 0 && ms < fullMs; ) {
      const file = left.shift()!
      ms += msOf(file)
      leftMs -= msOf(file)
      group.push(file)
    }
    groups.push(group)
  }
  return groups
}

const STANDS_STILL = new URL('./stands-still.mjs', import.meta.url).href

/**
 * The text of a module that loads the files of a group. What one throws as it loads is a test of its own that fails: as
 * an error that nobody catches it would be laid to the test that runs just then, which ends without its cleaning up,
 * and the process of the group never would.
 * @param paths  of sources, which lie beside the module as `.js`
 */
export const loaderOf = (paths: readonly string[]): string => `import { test } from 'node:test'
import ${JSON.stringify(STANDS_STILL)}

const paths = ${JSON.stringify(paths)}
const loads = await Promise.allSettled(paths.map((path) => import('./' + path.replace(/\\.tsx?$/, '.js'))))
for (const [at, { status, reason }] of loads.entries())
  if (status === 'rejected')
    test(paths[at] + ' can be loaded', () => {
      throw reason
    })
`
