/**
 * Runs tests, several files to a process: most of what a small file takes is loading our code. `run.ts` runs all,
 * `run.ts plugins/playlist` those of a place, `run.ts --light` those that need neither yt-dlp, Chromium nor
 * Elasticsearch.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findTests, isLight, type TestFile } from './support/needs.ts'
import { ROOT } from './support/sources.ts'

/** So many groups go on at once: two cores serve four well, as most files wait for a disk, a child or a clock. */
const JOBS = Number(process.env.TEST_JOBS ?? 4)
/** So much is one group: a file that starts yt-dlp, Chromium or Elasticsearch counts for four. */
const GROUP_WEIGHT = 12
const weightOf = (file: TestFile): number => (isLight(file) ? 1 : 4)
/** Of one test, and of a group's file. */
const TIMEOUT_MS = 900_000
const NODE = ['--import', 'tsx', '--conditions=source']

const words = process.argv.slice(2)
const places = words.filter((word) => !word.startsWith('--'))
const found = findTests(places)
const files = words.includes('--light') ? found.filter(isLight) : found

const folder = await mkdtemp(join(tmpdir(), 'av-tests-'))
try {
  process.exitCode = await run(await writeGroups(files))
} finally {
  await rm(folder, { recursive: true })
}

/** What needs the same stays together, so that a group opens one browser; what needs most comes first. */
async function writeGroups(all: readonly TestFile[]): Promise<string[]> {
  const left = all.toSorted((a, b) => b.needs.size - a.needs.size || (needsText(a) < needsText(b) ? -1 : 1))
  const total = all.reduce((sum, file) => sum + weightOf(file), 0)
  // Each job has something to do.
  const full = Math.min(GROUP_WEIGHT, total / JOBS)
  const groups: string[] = []
  while (left.length > 0) {
    const imports: string[] = []
    for (let weight = 0; left.length > 0 && weight < full; ) {
      const file = left.shift()!
      weight += weightOf(file)
      imports.push(`import '${pathToFileURL(join(ROOT, file.path))}'\n`)
    }
    const path = join(folder, `${String(groups.length).padStart(2, '0')}.test.mjs`)
    await writeFile(path, imports.join(''))
    groups.push(path)
  }
  return groups
}

function needsText({ needs }: TestFile): string {
  return [...needs].sort().join()
}

/** @returns the exit code */
function run(groups: readonly string[]): Promise<number> {
  const needsElasticsearch = files.some(({ needs }) => needs.has('elasticsearch'))
  const test = [...NODE, '--test', `--test-timeout=${TIMEOUT_MS}`, `--test-concurrency=${JOBS}`]
  const reporters = ['spec', join(ROOT, 'test/support/slowest.mjs')].flatMap((name) => [
    `--test-reporter=${name}`,
    '--test-reporter-destination=stdout',
  ])
  const command = [...test, ...reporters, ...groups]
  const args = needsElasticsearch
    ? [...NODE, join(ROOT, 'test/elasticsearch/run.ts'), process.execPath, ...command]
    : command
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit' })
  // A terminal's Ctrl-C reaches the child by itself; what is sent to us alone is handed on.
  process.on('SIGINT', () => undefined)
  process.on('SIGTERM', () => void child.kill('SIGTERM'))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}
