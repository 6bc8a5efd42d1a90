/** Commands in the pages for operators: each has a mark, and the commands marked as tested are run. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { START } from '../support/server.ts'
import { ROOT, readSources } from '../support/sources.ts'
import { aChannel, aVideo, testApp } from '../support/testing.ts'
import '../support/long.ts'

const RUN = 'config/upkeep.md'
const FOLDERS = ['config/container', 'config/systemd', 'config/proxies']
/** Settings alone are not a command; neither is what a page shows of the environment. */
const SETTINGS = /^(AV_\w+=(<[^>]*>|\S+)\s*)+(#.*)?$/

interface Command {
  page: string
  line: string
  mark: string | undefined
}

async function pages(): Promise<string[]> {
  const folders = await Promise.all(
    FOLDERS.map(async (folder) => (await readdir(join(ROOT, folder))).map((name) => join(folder, name))),
  )
  return ['README.md', 'config/README.md', RUN, ...folders.flat()]
}

/** In a page, lines that are indented by four; in other files, indented lines of comments. */
async function commandsIn(page: string): Promise<Command[]> {
  const indented = page.endsWith('.md') ? /^ {4}(\S.*)$/gm : /^# {2,}(\S.*)$/gm
  const lines = [...(await readFile(join(ROOT, page), 'utf8')).matchAll(indented)].map(([, line = '']) => line)
  return lines
    .filter((line) => !SETTINGS.test(line))
    .map((line) => ({ page, line, mark: /\s# ([✔–])(\s|$)/u.exec(line)?.[1] }))
}

const allCommands = async (): Promise<Command[]> => (await Promise.all((await pages()).map(commandsIn))).flat()

interface Said {
  code: number
  said: string
}

function run(line: string, { cwd, env }: { cwd: string; env: Record<string, string> }): Promise<Said> {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_')))
  return new Promise((resolve) =>
    execFile('sh', ['-c', line], { cwd, env: { ...clean, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    ),
  )
}

test('every command in these pages says whether a test runs it', async () => {
  const commands = await allCommands()

  assert.ok(commands.length > 30, `${commands.length} commands`)
  assert.deepEqual(
    commands.filter(({ mark }) => mark === undefined).map(({ page, line }) => `${page}: ${line}`),
    [],
  )
  // No test would run a command with this mark elsewhere.
  assert.deepEqual([...new Set(commands.filter(({ mark }) => mark === '✔').map(({ page }) => page))], [RUN])
})

test('every archivolt command in these pages exists', async () => {
  const { said } = await run(`${START} --help`, { cwd: ROOT, env: {} })
  const texts = await Promise.all((await pages()).map((page) => readFile(join(ROOT, page), 'utf8')))

  const named = new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/(?:^ {4}|`)archivolt ((?:user )?[a-z][a-z-]+)\b/gm)].map(([, name]) => name!),
    ),
  )
  for (const name of ['check', 'user password', 'rotate-key']) assert.ok(named.has(name), name)
  const known = new Set([...said.matchAll(/^ {2}(?:archivolt )?((?:user )?[a-z][a-z-]+)/gm)].map(([, name]) => name))
  assert.deepEqual(
    [...named].filter((name) => !known.has(name)),
    [],
  )
})

test('the quoted messages are those of the program', async () => {
  const [, table = ''] = (await readFile(join(ROOT, RUN), 'utf8')).split('\n## Troubleshooting\n')
  const seen = [...table.matchAll(/^\| ([^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/"([^"]+)"/g)].map(([, sentence = '']) => sentence),
  )

  const code = readSources('core', 'config', 'plugins')
    .map(({ text }) => text)
    .join('\n')
  assert.ok(seen.length > 5)
  assert.deepEqual(
    seen.filter((sentence) => !code.includes(sentence)),
    [],
  )
})

test('the commands marked ✔ do what the page says, on an archive', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.close()
  const folder = await temporaryFolder(t)
  await symlink(START, join(folder, 'archivolt'))
  const commands = (await commandsIn(RUN)).filter(({ mark }) => mark === '✔')
  const env = { AV_DATA_DIR: app.dataDir, PATH: `${folder}:${process.env['PATH']}` }
  const backups = join(app.dataDir, 'backups')
  /** Renames the backup that was created to the name on the page, which has another date. */
  const giveBackup = async (name: string) => {
    const made = await readdir(backups)
    const kind = name.replace(/-.*/, '')
    const newest = made.find((one) => one.startsWith(kind))!
    if (!made.includes(name)) await copyFile(join(backups, newest), join(backups, name))
  }

  for (const { line } of commands) {
    const file = /av_(?:backup-\S+\.zip|whole-\S+\.tar)/.exec(line)?.[0]
    if (file) await giveBackup(file)
    const isIntoEmpty = line.startsWith('mkdir')
    if (isIntoEmpty) await rm(app.dataDir, { recursive: true })
    const { code, said } = await run(line, { cwd: folder, env })
    // If this machine lacks something, `check` ends with 1.
    if (line.startsWith('archivolt check')) assert.match(said, /^ok {5}Ledger: no damage found/m, said)
    else assert.equal(code, 0, `${line}\n${said}`)
    if (isIntoEmpty) assert.ok((await readdir(app.dataDir)).includes('ledger.sqlite'))
  }

  await app.restart()
  assert.deepEqual(await app.ids('video'), ['v1'])
})
