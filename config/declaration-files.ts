/**
 * Declarations of everything that a plugin may import, as files: for the authors' package, and to compare versions. Run
 * by hand, it records them as those of a release.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { API_PACKAGE, API_VERSION } from '../core/plugin/api.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PUBLIC = 'plugins/plugin-kit/public.d.ts'
/** The modules that authors import. */
const ENTRIES = [
  PUBLIC,
  'plugins/index-kit/public.d.ts',
  'plugins/web/page/plugin-page/interface.d.ts',
  'test/support/plugin-testing.d.ts',
]
/** Additions of plugins to shared types: services, hooks, events, settings. */
const ADDS = /^declare module ['"]archivolt['"]/m
const SPECIFIER = /((?:\bfrom|\bimport)\s*(?:\(\s*)?|\bdeclare module\s+)(['"])([^'"]+)\2/g

/** Declarations by their path in the tree, `.d.ts`; files that no import of an author reaches are left out. */
export async function declarationFiles(): Promise<Map<string, string>> {
  const made = await compiled()
  const adding = [...made].filter(([path, text]) => path.startsWith('plugins/') && ADDS.test(text))
  const files = new Map<string, string>()
  const add = (path: string): void => {
    const text = made.get(path)
    if (files.has(path) || text === undefined) return
    files.set(path, text)
    for (const [, , , target] of text.matchAll(SPECIFIER))
      if (target!.startsWith('.')) add(join(dirname(path), target!.replace(/\.ts$/, '.d.ts')))
  }
  for (const path of [...ENTRIES, ...adding.map(([path]) => path)]) add(path)
  const additions = adding.map(([path]) => `import '../../${path.replace(/\.d\.ts$/, '.ts')}';\n`)
  files.set(PUBLIC, files.get(PUBLIC)! + additions.sort().join(''))
  return new Map([...files].sort().map(([path, text]) => [path, asPublished(text)]))
}

/** Replaces the names of modules by the published ones, and those of files by the ones that compilers find. */
const asPublished = (text: string): string =>
  text.replace(SPECIFIER, (_all, before: string, quote: string, target: string) => {
    const name = target.startsWith('.')
      ? target.replace(/\.ts$/, '.js')
      : target.replace(/^archivolt(?=$|\/)/, API_PACKAGE)
    return `${before}${quote}${name}${quote}`
  })

async function compiled(): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-types-'))
  try {
    const project = join(ROOT, 'config/packages/tsconfig.json')
    await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', folder], {
      cwd: ROOT,
    }).catch(({ stdout }: { stdout: string }) => {
      throw new Error(`The declarations cannot be made:\n${stdout}`)
    })
    const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.d.ts'))
    return new Map(
      await Promise.all(
        names.map(async (name): Promise<[string, string]> => [name, await readFile(join(folder, name), 'utf8')]),
      ),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The declarations of the last release, on which plugins may rely. */
const RELEASED = join(ROOT, 'config/packages/released.json.gz')

export async function readReleased(): Promise<{ version: string; files: Map<string, string> }> {
  const { version, files } = JSON.parse(gunzipSync(await readFile(RELEASED)).toString()) as {
    version: string
    files: Record<string, string>
  }
  return { version, files: new Map(Object.entries(files)) }
}

async function recordReleased(): Promise<void> {
  const released = { version: API_VERSION, files: Object.fromEntries(await declarationFiles()) }
  await writeFile(RELEASED, gzipSync(JSON.stringify(released), { level: 9 }))
}

/** Packages that the declarations name. */
export function packagesIn(files: ReadonlyMap<string, string>): Set<string> {
  const targets = [...files.values()].flatMap((text) => [...text.matchAll(SPECIFIER)].map(([, , , target]) => target!))
  return new Set(
    targets
      .filter((target) => !/^[.]|^node:/.test(target) && !target.startsWith(API_PACKAGE))
      .map((target) =>
        target
          .split('/')
          .slice(0, target.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await recordReleased()
