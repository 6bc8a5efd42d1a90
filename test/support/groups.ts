/** Assigns test files to processes and orders them: long ones start early, short ones fill the end. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLight, type TestFile } from './needs.ts'
import { ROOT } from './sources.ts'

/** The duration of each file's last run in milliseconds, by its path. */
export const TIMES_FILE = join(ROOT, '.cache/test-times.json')
/** Assumed for a file that has not run here yet. */
const LIGHT_MS = 1000
const HEAVY_MS = 30_000
/**
 * Minimum for a group: the start of its process and of its first server takes three quarters of a second of processor
 * time.
 */
const LEAST_MS = 10_000
/** Minimum for a group as a part of a job's total, because durations are long on a busy machine. */
const LEAST_PART = 1 / 3
/** Maximum for a group: if it takes much longer, it hangs, even on a slow machine. */
const MOST_MS = 120_000

export function knownTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES_FILE, 'utf8')) as Record<string, number>
  } catch {
    return {} // none yet
  }
}

/**
 * Makes groups, those of long files first: no other file shares a process, and thus a time limit, with a long one.
 * @param jobs  number of groups that run at the same time
 */
export function groupsOf(files: readonly TestFile[], times: Record<string, number>, jobs: number): TestFile[][] {
  const isLong = ({ needs }: TestFile) => needs.has('long')
  const others = files.filter((file) => !isLong(file))
  return [files.filter(isLong), others].flatMap((some) => decreasing(some, times, jobs))
}

/** Makes groups of decreasing size. Each free job takes the next one, so that all jobs end at about the same time. */
function decreasing(files: readonly TestFile[], times: Record<string, number>, jobs: number): TestFile[][] {
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
 * The text of a module that loads the files of a group. If a file throws while it loads, this becomes a failed test of
 * its own. As an uncaught error it would be attributed to the test that runs at that moment, which would end without
 * its cleanup, and the process of the group would never end.
 * @param paths  paths of sources, whose `.js` files are in the module's folder
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
