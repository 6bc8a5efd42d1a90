/** The worker's output → metadata in our terms: invalid values, and limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  toChannelMetadata,
  toListEntry,
  toPlaylistEntry,
  toPlaylistHead,
  toVideoMetadata,
} from '../../../plugins/platform/metadata.ts'
import { toSidecarMetadata } from '../../../plugins/platform/sidecar.ts'
import { type Source, toChannel, toEntries, toMetadata } from '../../../plugins/platform/source.ts'

const ID = 'dQw4w9WgXcQ'
const RAW = { id: ID, channel_id: 'UC1', hasFormats: true }
const INVISIBLE = [
  '\u3164',
  '\u200b',
  '\u2800',
  '\u3164\u200b',
  ' \u00a0\u2060\ufeff ',
  '\u115f\u1160',
  '\u{e0041}',
  '\u202e',
]

test('a name without visible characters counts as absent', () => {
  for (const title of INVISIBLE) {
    const raw = { ...RAW, title, channel: title, uploader: title, tags: [title, 'sea'] }
    const video = toVideoMetadata(raw, ID, [], 0)
    const sidecar = toSidecarMetadata(raw, ID, 0)

    for (const told of [video, sidecar])
      assert.deepEqual([told.title, told.channelName, told.tags], [undefined, 'UC1', ['sea']], escape(title))
    assert.equal(toChannelMetadata({ id: 'UC1', channel: title, title }).name, undefined)
    assert.equal(toListEntry({ id: ID, title }, 'videos')!.title, ID)
    assert.deepEqual(
      (({ title: shown, uploader }) => [shown, uploader])(toPlaylistEntry({ id: ID, title, channel: title })!),
      [ID, null],
    )
    assert.equal(toPlaylistHead({ title }).name, undefined)
  }
})

test('and so does one from another platform', () => {
  const source = { name: 'Further', prefix: 'further-' } as Source
  const [id, channelId] = ['further-video-1', 'further-channel-1']
  const said = { id, title: '\u3164', channelId, channelName: '\u200b', published: '2024-01-01', durationSeconds: 1 }

  const { title, channelName } = toMetadata(source, id, said)

  assert.deepEqual([title, channelName], [undefined, channelId])
  assert.equal(toChannel(source, channelId, { id: channelId, name: '\u2800' }).name, undefined)
  assert.deepEqual(
    toEntries(source, [{ id, title: '\u3164' }]).map((entry) => entry.title),
    [id],
  )
})

test('a name with a visible character stays unchanged', () => {
  for (const title of ['?!', '🌊', 'ㅤa', '👨\u200d👩\u200d👧', '\u{1fae9}', 'ᄀ', '\u00b7'])
    assert.equal(toVideoMetadata({ ...RAW, title }, ID, [], 0).title, title)
})

test('any number of chapters is kept, without names that yt-dlp makes up', () => {
  const chapters = [
    { start_time: 0, title: '<Untitled Chapter 1>' },
    ...Array.from({ length: 2000 }, (_, at) => ({ start_time: at + 10, title: `Part ${at}` })),
    { start_time: 3000, title: '\u200b' },
    { start_time: 3001, title: '<Untitled Chapter 2003>' },
    { start_time: 3002, title: 'The <Untitled Chapter 1> of my life' },
  ]

  for (const told of [toVideoMetadata, (raw: object) => toSidecarMetadata(raw as never, ID, 0)]) {
    const found = told({ ...RAW, title: 'Long', duration: 4000, chapters }, ID, [], 0).chapters
    assert.equal(found.length, 2001)
    assert.deepEqual(
      [found[0], found.at(-2), found.at(-1)],
      [
        { start: 10, title: 'Part 0' },
        { start: 2009, title: 'Part 1999' },
        { start: 3002, title: 'The <Untitled Chapter 1> of my life' },
      ],
    )
  }
  const endless = Array.from({ length: 100_000 }, (_, at) => ({ start_time: at / 100, title: 'x' }))
  assert.equal(toVideoMetadata({ ...RAW, title: 'Endless', chapters: endless }, ID, [], 0).chapters.length, 5000)
})
