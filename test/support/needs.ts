/**
 * What test files need beside Node and its packages, read off what they import: the helper that starts a real part
 * stands for it. By hand it prints the targets of the Makefile that install this: `needs.ts test/plugins/playlist`.
 */
import { fileURLToPath } from 'node:url'
import { readSources, type Source } from './sources.ts'

/** Targets of the Makefile. */
export type Need =
  | 'build'
  | 'ytdlp'
  | 'apprise'
  | 'ffmpeg'
  | 'chromium'
  | 'firefox'
  | 'elasticsearch'
  | 'schemathesis'
  | 'generators'

/** Whoever imports one of these files needs what it starts; `build` is the whole program in a process of its own. */
export const STARTS: Record<string, Need[]> = {
  'test/support/server.ts': ['build'],
  'test/config/dev.test.ts': ['build'],
  'test/config/api.test.ts': ['build'],
  'test/support/browser.ts': ['build', 'chromium'],
  'test/support/firefox.ts': ['build', 'firefox'],
  'test/support/elasticsearch.ts': ['elasticsearch'],
  'test/support/schemathesis.ts': ['schemathesis'],
  'test/support/generators.ts': ['generators'],
  'test/support/tools.ts': ['ytdlp', 'apprise'],
  'test/platform/start.ts': ['ytdlp', 'ffmpeg'],
  'test/support/ffmpeg.ts': ['ffmpeg'],
  'test/support/libraries.ts': ['ffmpeg'],
}

/** `make check` does without these, and so without the tests that need them. */
const LARGE = new Set<Need>([
  'build',
  'ytdlp',
  'ffmpeg',
  'chromium',
  'firefox',
  'elasticsearch',
  'schemathesis',
  'generators',
])

export interface TestFile {
  /** From the root: `test/core/app.test.ts`. */
  path: string
  needs: ReadonlySet<Need>
}

/**
 * @param only  folders and files, under `test/` or what they test (`plugins/playlist`); default: all
 * @throws where one of them leads to no test
 */
export function findTests(only: readonly string[] = []): TestFile[] {
  const sources = new Map(readSources('core', 'plugins', 'config', 'test').map((source) => [source.path, source]))
  const all = [...sources.keys()].filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/data/'))
  const wanted = only.length === 0 ? all : [...new Set(only.flatMap((place) => below(place, all)))]
  return wanted.map((path) => ({ path, needs: needsOf(path, sources) }))
}

export const isLight = ({ needs }: TestFile): boolean => ![...needs].some((need) => LARGE.has(need))

function below(place: string, all: readonly string[]): string[] {
  const path = place.replace(/^\.\//, '').replace(/\/$/, '')
  const mirrored = path.startsWith('test/') || path === 'test' ? path : `test/${path}`
  const file = `${mirrored.replace(/(\.test)?\.tsx?$/, '')}.test.ts`
  const found = all.filter((one) => one === file || one.startsWith(`${mirrored}/`))
  if (found.length === 0) throw new Error(`${place}: there are no tests of that`)
  return found
}

function needsOf(path: string, sources: ReadonlyMap<string, Source>): Set<Need> {
  const needs = new Set<Need>()
  const seen = new Set<string>()
  const follow = (one: string): void => {
    if (seen.has(one)) return
    seen.add(one)
    for (const need of STARTS[one] ?? []) needs.add(need)
    for (const { target, isType } of sources.get(one)?.imports ?? []) if (!isType) follow(target)
  }
  follow(path)
  return needs
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const needs = new Set(findTests(process.argv.slice(2)).flatMap((file) => [...file.needs]))
  // Whoever needs these installs them.
  for (const own of ['schemathesis', 'generators'] as const) needs.delete(own)
  process.stdout.write(`${[...needs].join(' ')}\n`)
}
