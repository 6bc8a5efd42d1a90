/**
 * Child processes inspect films in folders: several at once if each takes long, and none of the films ends the others.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openReading } from '../../../plugins/adoption/reading.ts'
import type { FoundFile } from '../../../plugins/film-kit/types.ts'
import { ENDINGS, isFilm, isSound } from '../../../plugins/media/containers.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { slowDisk } from '../../support/slow-disk.ts'
import '../../support/slow.ts'

const MEDIA = { media: { containers: { endings: ENDINGS, isFilm, isSound } } } as never
const HEAD = Buffer.from('\0\0\0\u0020ftypisom\0\0\u0002\0isomiso2avc1mp41', 'latin1')

async function someFilms(folder: string, count: number, info = (id: string) => JSON.stringify({ id })) {
  const files: FoundFile[] = []
  for (let at = 0; at < count; at++) {
    const base = `film ${at}`
    await writeFile(join(folder, `${base}.mp4`), HEAD)
    await writeFile(join(folder, `${base}.info.json`), info(base))
    const sizes = { sizeBytes: HEAD.length, changedMs: 0, subtitles: [] }
    files.push({ folder: '', name: `${base}.mp4`, base, ending: 'mp4', info: `${base}.info.json`, ...sizes })
  }
  return files
}

function reading(t: TestContext, options = {}) {
  const opened = openReading({ signal: new AbortController().signal }, MEDIA, options)
  lastFirst(t).after(() => opened.end())
  return opened
}

test('four slow files are read at once, fast ones one at a time, and all arrive in their order', async (t) => {
  const [slow, quick] = [await temporaryFolder(t), await temporaryFolder(t)]
  const [late, soon] = [await someFilms(slow, 40), await someFilms(quick, 40)]
  const most = slowDisk(t, slow, 25)
  const idsOf = async (opened: ReturnType<typeof reading>, folder: string, files: FoundFile[]) =>
    (await opened.look(folder, files)).map((look) => (look.isFilm ? look.info?.id : look.why))

  const patient = reading(t)
  for (let round = 0; round < 6; round++)
    assert.deepEqual(
      await idsOf(patient, slow, late),
      late.map(({ base }) => base),
    )
  assert.equal(most(), 4)

  const hasty = reading(t)
  for (let round = 0; round < 6; round++) await idsOf(hasty, quick, soon)
  assert.equal(hasty.lanes(), 1)
})

test('a file that takes too much memory counts as unreadable, and the files around it are read', async (t) => {
  const folder = await temporaryFolder(t)
  const files = await someFilms(folder, 5)
  await writeFile(join(folder, 'film 2.info.json'), `{"id":"film 2","x":"${'x'.repeat(60 << 20)}"}`)

  const looks = await reading(t, { memoryMb: 64 }).look(folder, files)

  assert.deepEqual(
    looks.map((look) => (look.isFilm ? look.info?.id : look.code)),
    ['film 0', 'film 1', 'unreadable_file', 'film 3', 'film 4'],
  )
})

test('a name with the replacement character is read like any other; one that is not UTF-8 is reported, and affects no other', async (t) => {
  const path = await temporaryFolder(lastFirst(t))
  for (const name of ['plain.mp4', 'odd \ufffd.mp4']) await writeFile(join(path, name), '')
  await writeFile(Buffer.concat([Buffer.from(`${path}/broken `), Buffer.from([0xff]), Buffer.from('.mp4')]), '')

  const names: string[] = []
  const codes: string[] = []
  for await (const { files, problems } of reading(t).walk({ path })) {
    names.push(...files.map(({ name }) => name))
    codes.push(...problems.map(({ code }) => code))
  }

  assert.deepEqual(names, ['odd \ufffd.mp4', 'plain.mp4'])
  assert.deepEqual(codes, ['unreadable_name'])
})
