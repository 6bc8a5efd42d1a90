/** A whole backup and its restore, killed at each step: both continue, or leave everything unchanged. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lastFirst } from '../support/last-first.ts'
import { START } from '../support/server.ts'
import { aVideo, testApp } from '../support/testing.ts'
import '../support/long.ts'

const MAIN = join(dirname(START), '../dist/main.js')
const KILL = fileURLToPath(new URL('../support/kill-at.cjs', import.meta.url))
/** Files of each kind of step. */
const STEPS = '/(?:restored|restoring/(?:documents|pictures/videos)|before-restore|backups/.*(?:ledger|whole))'

/**
 * Runs a command of the built program.
 * @returns the exit code (null if it was killed), and its error output
 */
async function apart(dataDir: string, typed: string[], calls: number) {
  const child = spawn(process.execPath, ['--require', KILL, MAIN, ...typed], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      ...{ PATH: process.env['PATH'], AV_DATA_DIR: dataDir, AV_YTDLP_UPDATE: 'off' },
      ...{ AV_TEST_KILL_CALLS: `${calls}`, AV_TEST_KILL_PATH: STEPS },
    },
  })
  let complaint = ''
  child.stderr!.on('data', (piece: Buffer) => (complaint += piece.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, complaint }
}

/**
 * Kills it at one step after the other until it ends by itself.
 * @param goesOn  each run continues where the previous one was killed
 * @returns how often it was killed
 */
async function untilDone(dataDir: string, typed: string[], goesOn = false): Promise<number> {
  for (let kills = 0; kills < 60; kills++) {
    const { code, complaint } = await apart(dataDir, typed, goesOn ? Math.min(kills, 1) : kills)
    if (code === null) continue
    assert.equal(code, 0, complaint)
    return kills
  }
  throw new Error(`${typed} does not end`)
}

test('killed at any step of a whole backup or restore, the next start is complete', {
  timeout: 280_000,
}, async (t) => {
  const scope = lastFirst(t)
  const elsewhere = await mkdtemp(join(tmpdir(), 'av-whole-'))
  scope.after(() => rm(elsewhere, { recursive: true, force: true }))
  const [here, there] = [await testApp(scope), await testApp(scope)]
  await here.given(aVideo({ id: 'v1', channelId: 'UC1', title: 'Herring' }))
  await there.given(aVideo({ id: 'v9' }))
  const picture = here.app.media.artPathOf('video', 'v1')
  await mkdir(dirname(picture), { recursive: true })
  await writeFile(picture, 'a picture')
  await Promise.all([here.close(), there.close()])

  assert.ok((await untilDone(here.dataDir, ['backup', '--all'])) >= 3)
  const names = await readdir(join(here.dataDir, 'backups'))
  assert.ok(names.length > 0)
  assert.deepEqual(
    names.filter((name) => !/_whole-.*\.tar$/.test(name)),
    [],
    'nothing half is left',
  )
  const saved = join(elsewhere, names.at(-1)!)
  await rename(join(here.dataDir, 'backups', names.at(-1)!), saved)
  assert.ok((await untilDone(there.dataDir, ['restore', saved, '--yes'])) >= 1)
  // The next start puts it in place, and this one also compares.
  assert.ok((await untilDone(there.dataDir, ['compare', saved], true)) >= 5)
  await there.restart()
  await there.settled()

  assert.deepEqual(await there.ids('video'), ['v1'])
  assert.equal((await there.doc('video', 'v1')).title, 'Herring')
  assert.equal(await readFile(there.app.media.artPathOf('video', 'v1'), 'utf8'), 'a picture')
  const left = (await readdir(there.dataDir)).filter((name) => /^restor/.test(name))
  assert.deepEqual(left, [])
})
