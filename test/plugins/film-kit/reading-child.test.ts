/** The child that reads places: what does not answer in time is given up, and the next one reads on. */
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

test('who waits for a disk that does not answer is told, and the next child reads on', async (t) => {
  const scope = lastFirst(t)
  // A child takes longer to begin.
  const late = startReading({ limitMs: 1 })
  scope.after(() => late.end())
  const next = startReading()
  scope.after(() => next.end())
  const args = { path: tmpdir(), roots: [], endings: [] }

  await assert.rejects(late.ask('open', args), /The disk is not responding; try again later/)

  await late.end()
  assert.equal(await next.ask('open', args), 1)
})

test('what takes longer than a disk is waited for, and goes on, is read to its end; what stops half way is given up', async (t) => {
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

test('what fills the memory of its reader ends the child alone, and the next one reads on with all of it back', async (t) => {
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

test('a child that no longer answers is killed at its limit, whatever it does, and the others that wait are told', async (t) => {
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

test('it ends when its server is killed, also in a read that has no end', async (t) => {
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
