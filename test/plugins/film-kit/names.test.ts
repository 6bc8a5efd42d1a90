/** Which files of a folder are films, and which are parts of an interrupted download. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupNames } from '../../../plugins/film-kit/names.ts'

const group = (...names: string[]) => groupNames(names, new Set(['mp4', 'webm']))

test('a title that ends like a stream of yt-dlp is a film if a sidecar has its whole name', () => {
  const { films, unfinished, lone } = group(
    ...[
      'Canon 50mm.f14.mp4',
      'Canon 50mm.f14.info.json',
      'Lens.f28.mp4',
      'Lens.f28.nfo',
      'Tape.orig.mp4',
      'Tape.orig.nfo',
    ],
    ...['x [id].f137.mp4', 'x [id].f251.webm', 'x [id].info.json', 'y.temp.mp4', 'z.f137.mp4.part', 'z.f137.info.json'],
  )

  assert.deepEqual(films.map(({ base }) => base).sort(), ['Canon 50mm.f14', 'Lens.f28', 'Tape.orig'])
  assert.equal(films[0]!.info, 'Canon 50mm.f14.info.json')
  assert.deepEqual(
    [...unfinished.values()].flat().sort(),
    ['x [id].f137.mp4', 'x [id].f251.webm', 'y.temp.mp4', 'z.f137.mp4.part'].sort(),
  )
  assert.deepEqual(lone, ['x [id].info.json', 'z.f137.info.json'])
})

test('a name with a line break is one like others', () => {
  const { films, unfinished } = group('a\nb [id].mp4', 'a\nb [id].info.json', 'a\nb [id].en.vtt', 'c\nd.mp4.part')

  assert.deepEqual(
    films.map(({ base, info, subtitles }) => [base, info, subtitles.map(({ lang }) => lang)]),
    [['a\nb [id]', 'a\nb [id].info.json', ['en']]],
  )
  assert.deepEqual([...unfinished.keys()], ['c\nd'])
})
