/** A Python venv with other packages than the one for tests. It consists of links, so it is made at once. */
import { copyFile, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from './folder.ts'
import { TOOLS } from './tools.ts'

interface Scope {
  after(cleanUp: () => Promise<void>): void
}

/**
 * @param without   packages to leave out, by their import names
 * @param programs  scripts beside its Python, in place of all others
 * @returns its path
 */
export async function givenVenv(
  scope: Scope,
  { without = [], programs = {} }: { without?: string[]; programs?: Record<string, string> } = {},
): Promise<string> {
  const venv = await temporaryFolder(scope)
  const [version] = await readdir(join(TOOLS, 'lib'))
  const packages = join('lib', version!, 'site-packages')
  await mkdir(join(venv, 'bin'))
  await mkdir(join(venv, packages), { recursive: true })
  await copyFile(join(TOOLS, 'pyvenv.cfg'), join(venv, 'pyvenv.cfg'))
  await symlink(await pythonOf(TOOLS), join(venv, 'bin/python'))
  for (const name of await readdir(join(TOOLS, packages)))
    if (!without.includes(name)) await symlink(join(TOOLS, packages, name), join(venv, packages, name))
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(venv, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return venv
}

/** The Python outside of the venv to which its links lead. */
async function pythonOf(venv: string): Promise<string> {
  let path = join(venv, 'bin/python')
  for (;;) {
    const next = await readlink(path).catch(() => undefined)
    if (next === undefined || !path.startsWith(venv)) return path
    path = next.startsWith('/') ? next : join(venv, 'bin', next)
  }
}
