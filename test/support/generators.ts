/** Client generators for our API description: openapi-typescript and openapi-python-client. */
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installNode, installPython, type Ran, run } from './installed.ts'
import { ROOT } from './sources.ts'

const FILES = join(ROOT, 'test/data/clients/generated')
const NODE = join(ROOT, '.cache/clients/node')
const PYTHON = join(ROOT, '.cache/clients/python')

/** @returns the reason why they cannot be installed; undefined if they are */
export async function installGenerators(): Promise<string | undefined> {
  const faults = await Promise.all([
    installNode(NODE, FILES, 'openapi-typescript'),
    installPython(PYTHON, join(FILES, 'requirements.txt'), 'openapi-python-client'),
  ])
  return faults.find((fault) => fault !== undefined)
}

const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noEmitOnError: true,
  skipLibCheck: true,
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
  outDir: 'out',
}

interface Steps {
  /** Generates a client from the description. */
  generate(): Promise<Ran>
  /** Calls a server. */
  call(args: readonly string[]): Promise<Ran>
}

/** A TypeScript client: types and calls, compiled in strict mode. */
export async function typescriptClient(folder: string, description: string): Promise<Steps> {
  const program = (name: string) => join(NODE, 'node_modules/.bin', name)
  await begin(folder, description, 'calls.ts')
  await symlink(join(NODE, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, files: ['calls.ts'] }))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  return {
    generate: async () => {
      const made = await run(program('openapi-typescript'), ['schema.json', '-o', 'schema.d.ts'], { cwd: folder })
      if (made.code !== 0) return made
      return run(program('tsc'), ['-p', '.'], { cwd: folder })
    },
    call: (args) => run(process.execPath, ['out/calls.js', ...args], { cwd: folder }),
  }
}

/** A Python client: a package with a model for each object. */
export async function pythonClient(folder: string, description: string): Promise<Steps> {
  await begin(folder, description, 'calls.py')
  await writeFile(join(folder, 'config.yaml'), 'post_hooks: []\n')
  const how = ['--config', 'config.yaml', '--meta', 'none', '--output-path', 'archive']
  return {
    generate: () =>
      run(join(PYTHON, 'bin/openapi-python-client'), ['generate', '--path', 'schema.json', ...how], { cwd: folder }),
    call: (args) =>
      run(join(PYTHON, 'bin/python'), ['calls.py', ...args], {
        cwd: folder,
        env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
      }),
  }
}

async function begin(folder: string, description: string, calls: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'schema.json'), description)
  await cp(join(FILES, calls), join(folder, calls))
}
