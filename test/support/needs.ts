/**
 * Finds what test files need besides Node and its packages, by what they import: the helper that starts a real program
 * stands for it. On the command line it prints the targets of the Makefile that install what tests need: `needs.ts
 * test/plugins/playlist`.
 */
import { fileURLToPath } from 'node:url'
import { readSources, type Source } from './sources.ts'

/** Targets of the Makefile; and `time` and `long`, which mean more time than `make check` or `make test` has. */
export type Need =
  | 'time'
  | 'long'
  | 'build'
  | 'ytdlp'
  | 'apprise'
  | 'ffmpeg'
  | 'chromium'
  | 'firefox'
  | 'kodi'
  | 'elasticsearch'
  | 'schemathesis'
  | 'generators'
  | 'readers'
  | 'gpodder'
  | 'restic'

/** A test that imports one of these files needs what it starts; `build` is the whole program in its own process. */
export const STARTS: Record<string, Need[]> = {
  'test/support/slow.ts': ['time'],
  'test/support/long.ts': ['long'],
  'test/support/server.ts': ['build'],
  'test/config/dev.test.ts': ['build'],
  'test/config/api.test.ts': ['build'],
  'test/plugins/plugin/pages.test.ts': ['build'],
  'test/support/browser.ts': ['build', 'chromium'],
  'test/support/firefox.ts': ['build', 'firefox'],
  'test/support/kodi.ts': ['build', 'kodi'],
  'test/support/elasticsearch.ts': ['elasticsearch'],
  'test/support/schemathesis.ts': ['schemathesis'],
  'test/support/generators.ts': ['generators'],
  'test/support/readers.ts': ['readers'],
  'test/support/gpodder.ts': ['gpodder'],
  'test/support/restic.ts': ['restic'],
  'test/support/tools.ts': ['ytdlp', 'apprise'],
  'test/platform/start.ts': ['ytdlp', 'ffmpeg'],
  'test/support/ffmpeg.ts': ['ffmpeg'],
  'test/support/libraries.ts': ['ffmpeg'],
}

/** Its tests pass on either index; without Elasticsearch they run on the embedded one. */
const ON_EITHER = 'test/support/indexes.ts'

/** Fetched by `make test ALL=1` alone, which has enough time: `make run` does not need it. */
const FOR_ALL = new Set<Need>([
  'long',
  'chromium',
  'firefox',
  'kodi',
  'elasticsearch',
  'schemathesis',
  'generators',
  'readers',
  'gpodder',
  'restic',
])
/** `make check` leaves out the tests that need these. */
const LARGE = new Set<Need>([...FOR_ALL, 'time', 'build', 'ytdlp', 'ffmpeg'])

export interface TestFile {
  /** Relative to the root: `test/core/app.test.ts`. */
  path: string
  needs: ReadonlySet<Need>
  /** Needs that it can do without. */
  without: ReadonlySet<Need>
}

/**
 * @param only  folders and files, in `test/` or what they test (`plugins/playlist`); default: all
 * @throws if one of them has no tests
 */
export function findTests(only: readonly string[] = []): TestFile[] {
  const sources = new Map(readSources('core', 'plugins', 'config', 'test').map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/data/'))
  const wanted = only.length === 0 ? all : [...new Set(only.flatMap((place) => below(place, all)))]
  return wanted.map((path) => ({ path, ...needsOf(path, sources) }))
}

export const isLight = ({ needs }: TestFile): boolean => ![...needs].some((need) => LARGE.has(need))

/** The files to run, and the files that are left out with their missing needs. */
export interface Chosen {
  files: TestFile[]
  leftOut: TestFile[]
}

/**
 * @param words  paths as for `findTests`; `--light`: the quick tests; `--all`: including tests with needs that have to
 * be fetched. A file that is named explicitly is never left out.
 */
export function chooseTests(words: readonly string[]): Chosen {
  const places = words.filter((word) => !word.startsWith('--'))
  const found = findTests(places)
  if (words.includes('--all')) return { files: found, leftOut: [] }
  if (words.includes('--light')) return { files: found.filter(isLight), leftOut: [] }
  const named = new Set(places.map(fileOf))
  const chosen = found.map((file) =>
    named.has(file.path)
      ? file
      : { ...file, needs: new Set([...file.needs].filter((need) => !file.without.has(need))) },
  )
  // A folder or plugin that is named explicitly is tested completely, however long it takes.
  const isForAll = (need: Need) => FOR_ALL.has(need) && (need !== 'long' || places.length === 0)
  const isLeftOut = ({ path, needs }: TestFile) => !named.has(path) && [...needs].some(isForAll)
  return { files: chosen.filter((file) => !isLeftOut(file)), leftOut: chosen.filter(isLeftOut) }
}

/** The text that a run prints at its end. */
export function saidOf(leftOut: readonly TestFile[]): string {
  const needs = new Set(leftOut.flatMap((file) => [...file.needs]).filter((need) => FOR_ALL.has(need)))
  const programs = [...needs].filter((need) => need !== 'long').sort()
  const reasons = [
    ...(needs.has('long') ? ['take twenty seconds or more'] : []),
    ...(programs.length > 0 ? [`need ${programs.join(', ')}`] : []),
  ]
  return `Left out: ${leftOut.length} files of tests, which ${reasons.join(' or ')}. With them: make test ALL=1`
}

/** The path in `test/`. */
function mirrored(place: string): string {
  const path = place.replace(/^\.\//, '').replace(/\/$/, '')
  return path.startsWith('test/') || path === 'test' ? path : `test/${path}`
}

const fileOf = (place: string): string => `${mirrored(place).replace(/(\.test)?\.tsx?$/, '')}.test.ts`

function below(place: string, all: readonly string[]): string[] {
  const file = fileOf(place)
  const found = all.filter((one) => one === file || one.startsWith(`${mirrored(place)}/`))
  if (found.length === 0) throw new Error(`${place}: there are no tests of that`)
  return found
}

function needsOf(path: string, sources: ReadonlyMap<string, Source>): Omit<TestFile, 'path'> {
  const needs = new Set<Need>()
  const seen = new Set<string>()
  const follow = (one: string): void => {
    if (seen.has(one)) return
    seen.add(one)
    for (const need of STARTS[one] ?? []) needs.add(need)
    for (const { target, isType } of sources.get(one)?.imports ?? []) if (!isType) follow(target)
  }
  follow(path)
  return { needs, without: new Set(seen.has(ON_EITHER) ? ['elasticsearch'] : []) }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const needs = new Set(chooseTests(process.argv.slice(2)).files.flatMap((file) => [...file.needs]))
  // These are no targets: the tests that need these programs install them.
  for (const own of ['time', 'long', 'schemathesis', 'generators', 'readers'] as const) needs.delete(own)
  process.stdout.write(`${[...needs].join(' ')}\n`)
}
