/**
 * Runs tests, bundled once with the server and several files per process, because most of the time of a small file is
 * loading our code. `run.ts --all` runs all, `run.ts` those that need nothing but what `make run` needs, `run.ts
 * plugins/playlist` those of a folder, `run.ts --light` the quick ones (`isLight`).
 */
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { bundleTests } from './support/bundle.ts'
import { groupsOf, knownTimes, loaderOf } from './support/groups.ts'
import { chooseTests, saidOf } from './support/needs.ts'
import { runWhole } from './support/own-processes.ts'
import { refusePrograms } from './support/refused.ts'
import { ROOT } from './support/sources.ts'
import { runFolder } from './support/temporary.ts'

/** Limit for a test, unless it calls `mayTake` (`support/hanging.ts`), or its file imports `support/long.ts`. */
const TEST_LIMIT_MS = 60_000
/** Limit for a group: many times its duration on a quiet machine. */
const TIMEOUT_MS = 1_800_000
const LIGHT_TIMEOUT_MS = 600_000
/**
 * Few tests run long enough to benefit from the optimizing compiler, which takes a twelfth of the total time, so it
 * starts later. Only the V8 of Node 20 has this flag; a newer Node refuses it and runs without.
 */
const LATE_OPTIMISER = process.versions.node.startsWith('20.') ? ['--interrupt-budget=1000000'] : []
/**
 * Several groups run at the same time, so parallel threads for garbage collection would only wait for each other. Saves
 * a fifteenth of the total time.
 */
const ONE_COLLECTOR = ['--single-threaded-gc', '--min-semi-space-size=16', '--max-semi-space-size=32']
/** No test uses the internet: requests of yt-dlp to the real platform are refused at once, online or not. */
const NO_WORLD = { https_proxy: 'http://127.0.0.1:1' }
/** The file that `summary.mjs` writes about a run. */
const OUTCOME = 'outcome.json'
const UNFOLLOWED = join(ROOT, 'test/support/unfollowed.cjs')

const words = process.argv.slice(2)
const areLight = words.includes('--light')
/**
 * Number of groups that run at the same time. Most files wait for a disk, a child or a clock, so two cores can run
 * four. The quick ones only compute: more of them than cores would take a fifth more processor time.
 */
const JOBS = Number(process.env.TEST_JOBS ?? (areLight ? availableParallelism() : 4))
const { files, leftOut } = chooseTests(words)

/** Before the internet is shut off; a test for which nothing can be installed there is left out. */
if (files.some(({ needs }) => needs.has('schemathesis')))
  await (await import('./support/schemathesis.ts')).installSchemathesis()
if (files.some(({ needs }) => needs.has('generators')))
  await (await import('./support/generators.ts')).installGenerators()
if (files.some(({ needs }) => needs.has('readers'))) await (await import('./support/readers.ts')).installReaders()

const cache = join(ROOT, '.cache')
await mkdir(cache, { recursive: true })
const folder = await realpath(await mkdtemp(join(cache, 'tests-')))
const temporary = await runFolder()
try {
  await bundleTests(
    files.map(({ path }) => path),
    folder,
  )
  const refused = areLight ? await refusePrograms(folder) : undefined
  const env = refused?.env
  let code = await run(await writeGroups(), env)
  const again = code === 0 ? [] : await stoodStill()
  if (again.length > 0) {
    console.log(
      `Nothing failed, but ${again.length} groups were ended as they stood still (see above). They run once more`,
    )
    code = await run(again, env)
  }
  const started = (await refused?.started()) ?? []
  for (const line of started) console.error(`A light test has started ${line.slice(0, 500)}`)
  if (leftOut.length > 0) console.log(saidOf(leftOut))
  process.exitCode = started.length > 0 ? 1 : code
} finally {
  for (const made of [folder, temporary]) await rm(made, { recursive: true, force: true })
}

/** @returns the paths of the files, each of which loads the tests of one group */
function writeGroups(): Promise<string[]> {
  return Promise.all(
    groupsOf(files, knownTimes(), JOBS).map(async (group, at) => {
      const path = join(folder, `${String(at).padStart(2, '0')}.test.mjs`)
      await writeFile(path, loaderOf(group.map((file) => file.path)))
      return path
    }),
  )
}

/** @returns the groups that `stands-still.mjs` has ended, if nothing else failed; a second time counts as a failure */
async function stoodStill(): Promise<string[]> {
  const text = await readFile(join(folder, OUTCOME), 'utf8').catch(() => '{}')
  const { failed, stoodStill = [] } = JSON.parse(text) as { failed?: number; stoodStill?: string[] }
  return failed === 0 ? stoodStill : []
}

/** @returns the exit code */
function run(groups: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const needsElasticsearch = files.some(({ needs }) => needs.has('elasticsearch'))
  const each = ['--enable-source-maps', ...LATE_OPTIMISER, ...ONE_COLLECTOR, `--require=${UNFOLLOWED}`]
  const test = [
    ...each,
    '--test',
    `--test-timeout=${areLight ? LIGHT_TIMEOUT_MS : TIMEOUT_MS}`,
    `--test-concurrency=${JOBS}`,
  ]
  const reporters = ['spec', join(ROOT, 'test/support/summary.mjs')].flatMap((name) => [
    `--test-reporter=${name}`,
    '--test-reporter-destination=stdout',
  ])
  const command = [...test, ...reporters, ...groups]
  const args = needsElasticsearch
    ? ['--import', 'tsx', '--conditions=source', join(ROOT, 'test/elasticsearch/run.ts'), process.execPath, ...command]
    : command
  return runWhole(process.execPath, args, {
    folder: temporary,
    cwd: ROOT,
    env: {
      ...process.env,
      ...NO_WORLD,
      ...(!needsElasticsearch && { TEST_WITHOUT: 'elasticsearch' }),
      ...env,
      TEST_BUNDLE: folder,
      TEST_OUTCOME: join(folder, OUTCOME),
      TEST_LIMIT_MS: String(TEST_LIMIT_MS),
    },
  })
}
