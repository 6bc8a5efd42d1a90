/**
 * Upgrades from the previous version and back, as config/upkeep.md says: builds the previous version from the history,
 * fills it with data of each kind, continues with this version, and goes back by the ledger's copy and by the backup.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, readdir, rename, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { temporaryFolder } from '../support/folder.ts'
import { type Server, startServer, taskEnded } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'

/**
 * The last commit without metrics, tarballs, tokens and webhooks; older ones may need packages that are no longer
 * available.
 */
const BEFORE = '85e208c8b47b7a3ab1f26546f8a3f2417a453899'

const run = promisify(execFile)
const isInHistory = await run('git', ['cat-file', '-e', `${BEFORE}^{commit}`], { cwd: ROOT }).then(
  () => true,
  () => false,
)
const skip = !isInHistory && 'the version before is not in this history, such as in a shallow clone'

/** Built with the packages and tools of this version. */
async function build(folder: string): Promise<void> {
  const tar = join(folder, 'before.tar')
  await run('git', ['archive', '-o', tar, BEFORE], { cwd: ROOT })
  await run('tar', ['xf', tar, '-C', folder])
  for (const shared of ['node_modules', 'tools']) await symlink(join(ROOT, shared), join(folder, shared))
  await run('node', ['--import', 'tsx', '--conditions=source', 'config/build.ts'], { cwd: folder })
}

/** The content as users see it. */
async function seen({ api }: Server) {
  const users: Array<{ username: string }> = (await api('GET', '/api/user/')).body
  const { downloads } = (await api('GET', '/api/config/')).body
  const { data: playlists } = (await api('GET', '/api/playlist/')).body
  return {
    users: users.map(({ username }) => username),
    limit: downloads.limit_speed,
    playlists: playlists.map(({ playlist_name: name }: { playlist_name: string }) => name).sort(),
  }
}

test('an upgrade keeps everything, and so does the way back', { skip }, async (t) => {
  const [before, dataDir] = [await temporaryFolder(t), await temporaryFolder(t)]
  await build(before)
  const program = join(before, 'config/start.sh')
  const old = await startServer(t, dataDir, {}, 'ready', program)
  await old.api('POST', '/api/user/', { username: 'ann', password: 'long enough for all' })
  await old.api('POST', '/api/config/', { downloads: { limit_speed: 700 } })
  for (const [name, visibility] of [
    ['Evenings', 'shared'],
    ['Mine', 'private'],
  ])
    await old.api('POST', '/api/playlist/custom/', { playlist_name: name, playlist_visibility: visibility })
  const made = await seen(old)
  assert.deepEqual([made.users.length, made.limit], [2, 700])
  for (const name of ['Evenings', 'Mine']) assert.ok(made.playlists.includes(name), `${made.playlists}`)
  const { task_id: backup } = (await old.api('POST', '/api/task-name/run_backup/')).body
  assert.equal((await taskEnded(old, backup)).status, 'SUCCESS')
  const [{ filename }] = (await old.api('GET', '/api/backup/')).body
  assert.equal(await old.end('SIGTERM'), 0)

  const present = await startServer(t, dataDir)
  assert.deepEqual(await seen(present), made)
  await present.api('POST', '/api/user/', { username: 'ben', password: 'long enough for all' })
  assert.equal(await present.end('SIGTERM'), 0)

  await assert.rejects(startServer(t, dataDir, {}, 'ready', program), /a later version/)
  const copies = (await readdir(join(dataDir, 'ledger-copies'))).filter((name) => name.startsWith('before-migration-'))
  assert.equal(copies.length, 1)
  await copyFile(join(dataDir, 'ledger-copies', copies[0]!), join(dataDir, 'ledger.sqlite'))
  for (const part of ['wal', 'shm']) await rm(join(dataDir, `ledger.sqlite-${part}`), { force: true })
  for (const name of await readdir(dataDir))
    if (name.startsWith('index.sqlite')) await rename(join(dataDir, name), join(before, name))
  const again = await startServer(t, dataDir, {}, 'ready', program)
  const { status, body } = await again.api('POST', `/api/backup/${filename}/`)
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal((await taskEnded(again, body.task_id)).status, 'SUCCESS')

  assert.deepEqual(await seen(again), made)
  assert.equal(await again.end('SIGTERM'), 0)
})
