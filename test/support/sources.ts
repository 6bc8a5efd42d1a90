/** Reads what our files import, for the tests that check the architecture. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface Import {
  /** Relative imports as a path from the root (`core/events.ts`); packages as written. */
  target: string
  /** Only types are imported, so the import does not exist at run time. */
  isType: boolean
}

export interface Source {
  /** Relative to the root, with slashes. */
  path: string
  text: string
  /** Without comments. */
  code: string
  imports: Import[]
}

/** All TypeScript files below these folders. */
export function readSources(...folders: string[]): Source[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .sort()
      .map((name) => readSource(`${folder}/${name.split(sep).join('/')}`)),
  )
}

const IMPORT =
  /(?:^|\n)\s*(?:import|export)\s+(type\s+)?((?:[\w*\s{},]+?)\s+from\s+)?'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/g

const known = new Map<string, Source>()

/** Read once per process, because sources do not change while tests run. */
function readSource(path: string): Source {
  const source = known.get(path) ?? parsed(path)
  known.set(path, source)
  return source
}

function parsed(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|[\s;{}(),])\/\/.*$/gm, '$1')
  const imports = [...code.matchAll(IMPORT)].map(([, type, names = '', from, dynamic]) => {
    const written = (from ?? dynamic)!
    const target = written.startsWith('.')
      ? relative(ROOT, join(ROOT, dirname(path), written))
          .split(sep)
          .join('/')
      : written
    const inner = /\{([^}]*)\}/.exec(names)?.[1]?.split(',') ?? ['a default']
    const isAllTypes = inner.every((name) => name.trim() === '' || name.trim().startsWith('type '))
    return { target, isType: type !== undefined || isAllTypes }
  })
  return { path, text, code, imports }
}
