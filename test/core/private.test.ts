/**
 * Permissions of files on disk: only the server's user can read them, except for the library, which media servers read.
 */
import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type TestContext, test } from 'node:test'
import { lastFirst } from '../support/last-first.ts'
import { testApp } from '../support/testing.ts'

const SHARED = ['media', 'cache', 'import']

async function emptyPlace(t: TestContext): Promise<string> {
  const before = process.umask(0o022)
  const place = await mkdtemp(join(tmpdir(), 'archivolt-private-'))
  lastFirst(t).after(async () => {
    process.umask(before)
    await rm(place, { recursive: true })
  })
  return join(place, 'data')
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

/** Everything in the data folder that other users can access, except for the library. */
async function openToOthers(dataDir: string): Promise<string[]> {
  const names = (await readdir(dataDir, { recursive: true })).filter((name) => !SHARED.includes(name.split('/')[0]!))
  const open: string[] = []
  for (const name of names) if ((await modeOf(join(dataDir, name))) & 0o077) open.push(name)
  return open.map((name) => relative('.', name)).sort()
}

test('everything created in the data folder is closed to others; the library in it can be reached and read', async (t) => {
  const dataDir = await emptyPlace(t)
  const app = await testApp(lastFirst(t), { dataDir })
  const admin = app.as('admin')
  for (const path of ['/api/snapshot/', '/api/backup/']) {
    await app.settled()
    assert.equal((await admin.post(path)).status, 200, path)
  }
  await app.settled()
  // The first copy of the ledger is made once the clock advances, and nothing else waits for it.
  const copies = () => readdir(join(dataDir, 'ledger-copies')).catch(() => [])
  while (!(await copies()).some((name) => name.endsWith('.sqlite'))) await app.clock.advance(1)

  const names = await readdir(dataDir, { recursive: true })
  for (const part of [
    /^ledger\.sqlite-wal$/,
    /^index\.sqlite-wal$/,
    /^ledger-copies\/.*\.sqlite$/,
    /^snapshots\/.*\.sqlite$/,
    /^backups\/.*\.zip$/,
    /^secret\.key$/,
  ])
    assert.ok(
      names.some((name) => part.test(name)),
      `${part}`,
    )
  assert.deepEqual(await openToOthers(dataDir), [])
  assert.equal(await modeOf(dataDir), 0o711)
  assert.equal(await modeOf(join(dataDir, 'media')), 0o755)
})

test('the start closes files of earlier versions; the permissions of the folder itself and of the library stay', async (t) => {
  const dataDir = await emptyPlace(t)
  const app = await testApp(lastFirst(t), { dataDir })
  for (const path of ['/api/snapshot/', '/api/backup/']) {
    await app.settled()
    assert.equal((await app.as('admin').post(path)).status, 200, path)
  }
  await app.settled()
  await app.close()
  await mkdir(join(dataDir, 'ledger-copies'), { recursive: true })
  await writeFile(join(dataDir, 'ledger-copies', 'daily-2026-01-01.sqlite'), '')
  await writeFile(join(dataDir, 'media', 'film.mp4'), 'film')
  await chmod(dataDir, 0o750)
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath ?? entry.path, entry.name), entry.isDirectory() ? 0o755 : 0o644)

  await app.restart()

  assert.deepEqual(await openToOthers(dataDir), [])
  assert.equal(await modeOf(dataDir), 0o750)
  assert.equal(await modeOf(join(dataDir, 'media', 'film.mp4')), 0o644)
})
