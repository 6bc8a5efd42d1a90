/**
 * Runs npm for plugins: without the scripts of packages, without a cache of its own, and with a sentence if it fails.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { childEnvironment, startChild } from 'archivolt'

const ARGUMENTS = [
  // A package runs no code while it is installed.
  '--ignore-scripts',
  // The server itself provides `@archivolt/plugin`.
  ...['--legacy-peer-deps', '--omit=dev'],
  ...['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error', '--color=false'],
]
const MOST_SAID = 2000

/**
 * @param folder  the folder of the package.json
 * @returns npm's output
 * @throws a sentence: npm is missing, or npm's error message
 */
export async function npm(folder: string, args: readonly string[]): Promise<string> {
  const child = startChild('npm', [...args, ...ARGUMENTS, '--cache', join(folder, '.npm'), '--prefix', folder], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: childEnvironment({ isOnline: true, also: /^npm_config_/i }),
  })
  let [said, errors] = ['', '']
  child.stdout!.on('data', (text: Buffer) => (said += text))
  child.stderr!.on('data', (text: Buffer) => (errors = `${errors}${text}`.slice(0, MOST_SAID)))
  const [code] = (await once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === 'ENOENT' ? 'npm is not on PATH: install it, as it comes with Node' : `npm: ${error.message}`,
      { cause: error },
    )
  })) as [number | null]
  if (code !== 0) throw new Error(`npm: ${reasonIn(errors) ?? `it ended with code ${code}`}`)
  return said
}

/** The first line that is a sentence. It is not the very first, because npm begins with `npm error code E404`. */
const reasonIn = (errors: string): string | undefined =>
  errors
    .split('\n')
    .map((line) => line.replace(/^npm (error|ERR!) ?/, '').trim())
    .find((line) => line !== '' && !/^(code|errno|syscall|path|type|signal|command) /.test(line))
