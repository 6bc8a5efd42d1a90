/** Installs programs from package registries that only tests need, each in its own folder in .cache/. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

export interface Ran {
  code: number | null
  output: string
}

export function run(
  program: string,
  args: readonly string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    const collect = (chunk: Buffer) => void (output += chunk.toString())
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => resolve({ code: -1, output: error.message }))
    child.once('close', (code) => resolve({ code, output }))
  })
}

/** @returns the reason why it cannot be installed; undefined if the venv has what the file with hashes lists */
export const installPython = (folder: string, requirements: string, name: string): Promise<string | undefined> =>
  once(folder, [requirements], async () => {
    const made = await run('python3', ['-m', 'venv', folder])
    if (made.code !== 0) return `Python cannot make a virtual environment for ${name}`
    const quiet = ['--quiet', '--disable-pip-version-check']
    const got = await run(join(folder, 'bin/pip'), ['install', ...quiet, '--require-hashes', '-r', requirements])
    return got.code === 0 ? undefined : `${name} could not be installed from PyPI: ${lastLine(got)}`
  })

/** @returns the reason why it cannot be installed; undefined if `node_modules` has what the lock file lists */
export const installNode = (folder: string, from: string, name: string): Promise<string | undefined> => {
  const files = ['package.json', 'package-lock.json'].map((file) => join(from, file))
  return once(folder, files, async () => {
    for (const file of files) await copyFile(file, join(folder, basename(file)))
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const got = await run('npm', ['ci', ...quiet], { cwd: folder })
    return got.code === 0 ? undefined : `${name} could not be installed from npm: ${lastLine(got)}`
  })
}

const lastLine = ({ output }: Ran): string => output.trim().split('\n').at(-1) ?? ''

async function once(
  folder: string,
  files: readonly string[],
  install: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const wanted = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('')
  const installed = join(folder, 'installed')
  if (existsSync(installed) && (await readFile(installed, 'utf8')) === wanted) return undefined
  await mkdir(folder, { recursive: true })
  const fault = await install()
  if (fault === undefined) await writeFile(installed, wanted)
  return fault
}
