/**
 * How Node is started: each test has its own PATH, with stand-ins for Node and for what the machine reports about
 * itself.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/folder.ts'
import { ROOT } from '../support/sources.ts'

const NODE = 'if [ "$1" = --version ]; then echo v24.1.0; else echo "$@"; fi'

/**
 * A source tree with only the script.
 * @param isBuilt  whether it has a bundle, which is empty
 */
async function aTree(t: TestContext, isBuilt: boolean): Promise<{ tree: string; script: string }> {
  const tree = await temporaryFolder(t)
  for (const folder of ['config', 'dist']) await mkdir(join(tree, folder))
  const script = join(tree, 'config/archivolt')
  await copyFile(join(ROOT, 'config/archivolt'), script)
  if (isBuilt) await writeFile(join(tree, 'dist', 'main.js'), '')
  return { tree, script }
}

/** @param memory  the text of the kernel's files; undefined: they do not exist */
async function startedWith(t: TestContext, memory: string | undefined): Promise<string> {
  const bin = await temporaryFolder(t)
  const programs = { node: NODE, cat: memory === undefined ? 'exit 1' : `printf '${memory}'` }
  for (const [name, script] of Object.entries(programs))
    await writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const { stdout: dirname } = await promisify(execFile)('/bin/sh', ['-c', 'command -v dirname'])
  await symlink(dirname.trim(), join(bin, 'dirname'))
  const { script } = await aTree(t, true)
  const { stdout } = await promisify(execFile)(script, ['start'], { env: { PATH: bin } })
  return /--max-semi-space-size=(\d+)/.exec(stdout)![1]!
}

test("the size of the young generation depends on the machine's memory", async (t) => {
  const machines: Array<[memory: string | undefined, megabytes: string]> = [
    ['MemTotal:        8000000 kB\\nMemFree: 100 kB\\n', '4'],
    ['MemTotal:         949000 kB\\n', '1'],
    [undefined, '1'],
  ]

  for (const [memory, megabytes] of machines) assert.equal(await startedWith(t, memory), megabytes, memory)
})

test('a container counts with its memory limit', async (t) => {
  const machine = 'MemTotal:        8000000 kB\\n'

  const [limited, unlimited, old] = [
    await startedWith(t, `${machine}268435456\\n`),
    await startedWith(t, `${machine}max\\n`),
    await startedWith(t, `${machine}9223372036854771712\\n`),
  ]

  assert.deepEqual({ limited, unlimited, old }, { limited: '1', unlimited: '4', old: '4' })
})

test('a tree that has not been built names the command that builds it', async (t) => {
  const { tree, script } = await aTree(t, false)

  await assert.rejects(promisify(execFile)(script, ['--help']), {
    code: 1,
    stderr: `Archivolt is not built yet: run make build in ${tree}\n`,
  })
})
