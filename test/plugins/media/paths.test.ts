/** Paths and URLs are built only from checked ids, and parsed only from names that we generate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { artPath, openPaths, parseArtName, parseMediaName } from '../../../plugins/media/paths.ts'

const paths = openPaths('/m', '/c')

test('URLs have the form of the contract', () => {
  assert.equal(paths.mediaUrl('UC1', '-aB'), '/media/UC1/-aB.mp4')
  assert.equal(paths.subtitleUrl('UC1', '-aB', 'en'), '/media/UC1/-aB.en.vtt')
  assert.equal(paths.artUrl('video', 'AbC'), '/cache/videos/a/AbC.jpg')
  assert.equal(paths.artUrl('channel_banner', 'UC1'), '/cache/channels/UC1_banner.jpg')
  assert.equal(paths.artUrl('playlist', 'PL1'), '/cache/playlists/PL1.jpg')
})

test('a hostile id never becomes a path', () => {
  for (const id of ['', '..', '.', 'a/b', 'a\\b', '../x', 'a\0', 'a.b', 'é', 'x'.repeat(129)]) {
    assert.throws(() => paths.pathOf('UC1', id), { code: 'bad_request' }, JSON.stringify(id))
    assert.throws(() => paths.pathOf(id, 'v1'), { code: 'bad_request' })
    assert.throws(() => paths.trashOf(id), { code: 'bad_request' })
    assert.throws(() => artPath('playlist', id), { code: 'bad_request' })
  }
  for (const lang of ['', '../en', 'e.n', 'x'.repeat(36)])
    assert.throws(() => paths.subtitlePathOf('UC1', 'v1', lang), { code: 'bad_request' }, lang)
})

test('only generated names are parsed', () => {
  assert.deepEqual(parseMediaName('-a_B.mp4'), { videoId: '-a_B', ending: 'mp4' })
  assert.deepEqual(parseMediaName('v1.zh-Hans.vtt'), { videoId: 'v1', lang: 'zh-Hans' })
  for (const name of [
    'v1.vtt',
    'v1.e_n.vtt',
    `v1.${'x'.repeat(36)}.vtt`,
    'v1.mp4.part',
    '../v1.mp4',
    '.mp4',
    'v1.en.srt',
    'v1.mp4\n',
    'v1..vtt',
  ])
    assert.equal(parseMediaName(name), undefined, name)

  assert.deepEqual(parseArtName('channels', 'UC_1_thumb.jpg'), { kind: 'channel_thumb', id: 'UC_1' })
  assert.deepEqual(parseArtName('videos', 'v_thumb.jpg'), { kind: 'video', id: 'v_thumb' })
  for (const name of ['UC1.jpg', '_thumb.jpg', 'UC1_thumb.small.jpg', 'UC1_thumb.png'])
    assert.equal(parseArtName('channels', name), undefined, name)
})
