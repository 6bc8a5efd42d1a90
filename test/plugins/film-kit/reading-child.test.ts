/**
 * The child process that reads locations: a request without an answer in time is given up, and the next child
 * continues.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startReading } from '../../../plugins/adoption/reading.ts'
import type { FoundFile } from '../../../plugins/film-kit/types.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { ROOT } from '../../support/sources.ts'
import '../../support/slow.ts'

test('a read from a disk that does not answer fails, and the next child continues', async (t) => {
  const scope = lastFirst(t)
  // A child takes longer than this to start.
  const late = startReading({ limitMs: 1 })
  scope.after(() => late.end())
  const next = startReading()
  scope.after(() => next.end())
  const args = { path: tmpdir(), roots: [], endings: [] }

  await assert.rejects(late.ask('open', args), /The disk is not responding; try again later/)

  await late.end()
  assert.equal(await next.ask('open', args), 1)
})

test('a slow read that makes progress is read to its end; one that stops halfway is given up', async (t) => {
  const scope = lastFirst(t)
  const limitMs = 2000
  const folder = await temporaryFolder(scope)
  const path = join(folder, 'youtarr.sql')
  execFileSync('mkfifo', [path])
  const reading = startReading({ limitMs })
  scope.after(() => reading.end())
  const asked = () =>
    reading.ask('catalog', {
      own: join(folder, 'own'),
      path: folder,
      roots: [folder],
      at: path,
      endings: [],
      kind: 'youtarr',
    })
  const film = "CREATE TABLE `Videos` (\n  `youtubeId` x,\n  `filePath` x\n);\nINSERT INTO `Videos` VALUES ('v','f');\n"

  const whole = asked()
  const dump = await open(path, 'w')
  await dump.write(film)
  for (const end = Date.now() + 2 * limitMs; Date.now() < end; ) await dump.write(`-- ${'x'.repeat(60_000)}\n`)
  await dump.close()
  assert.equal((await whole).read?.films, 1)

  const cut = asked()
  cut.catch(() => undefined)
  const stopped = await open(path, 'w')
  scope.after(() => stopped.close())
  await stopped.write(film)
  await assert.rejects(cut, /The disk is not responding; try again later/)
})

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test("a file that fills the child's memory ends only the child, and the next one continues with all of its memory", async (t) => {
  const folder = await temporaryFolder(lastFirst(t))
  await writeFile(join(folder, 'film.mp4'), 'a film')
  await writeFile(join(folder, 'film.info.json'), `{"id":"film","x":"${'x'.repeat(60 << 20)}"}`)
  const film = { folder: '', name: 'film.mp4', base: 'film', ending: 'mp4', sizeBytes: 6, changedMs: 0, subtitles: [] }
  const reading = startReading({ memoryMb: 64 })
  lastFirst(t).after(() => reading.end())

  const asked = reading.ask('look', { path: folder, files: [{ ...film, info: 'film.info.json' } as FoundFile] })

  await assert.rejects(asked, /it takes too much memory/)
  await reading.end()
  assert.equal(isThere(reading.pid!), false)
  const next = startReading({ memoryMb: 64 })
  lastFirst(t).after(() => next.end())
  const { seen } = await next.ask('look', { path: folder, files: [film as FoundFile] })
  assert.equal(seen.length, 1)
})

test('a child that no longer answers is killed at its limit, whatever it does, and the other pending requests fail', async (t) => {
  const reading = startReading({ limitMs: 3000 })
  lastFirst(t).after(() => reading.end())
  const args = { path: tmpdir(), roots: [], endings: [] }
  await reading.ask('open', args)
  process.kill(reading.pid!, 'SIGSTOP')

  const asked = [reading.ask('open', args), reading.ask('open', args)]

  for (const one of asked) await assert.rejects(one, /The disk is not responding; try again later/)
  assert.equal(reading.isLost(), true)
  await assert.rejects(reading.ask('open', args), /Reading the files was interrupted; try again/)
  while (isThere(reading.pid!)) await nextTurn()
})

test('it ends when its server is killed, even during an endless read', async (t) => {
  const folder = await temporaryFolder(lastFirst(t))
  const path = join(folder, 'youtarr.sql')
  execFileSync('mkfifo', [path])
  const asked = { own: join(folder, 'own'), path: folder, roots: [folder], at: path, kind: 'youtarr' }
  const code = `
    import { startReading } from ${JSON.stringify(join(ROOT, 'plugins/adoption/reading.ts'))}
    const reading = startReading()
    void reading.ask('catalog', ${JSON.stringify(asked)})
    process.stdout.write(String(reading.pid))`
  const program = join(folder, 'server.mts')
  await writeFile(program, code)
  const server = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), '--conditions=source', program], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  lastFirst(t).after(() => void server.kill('SIGKILL'))
  const [pid] = await once(server.stdout, 'data')
  const dump = await open(path, 'w')
  lastFirst(t).after(() => dump.close())
  await dump.write('-- ')

  server.kill('SIGKILL')

  while (isThere(Number(pid))) await nextTurn()
})
