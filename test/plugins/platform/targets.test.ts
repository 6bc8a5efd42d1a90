/** Which pasted texts are targets, and which are not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isAppError } from '../../../core/base/error.ts'
import { openTargets } from '../../../plugins/platform/targets.ts'

const VIDEO = 'aB3dE6gH9jK'
const CHANNEL = 'UCaB3dE6gH9jKlMnOpQrStUv'
const PLAYLIST = 'PLaB3dE6gH9jKlMnOpQrStUvWxYz012345'
const { targets, targetsIn } = openTargets({ platformUrl: 'http://127.0.0.1:8787', prefix: 'av' })

test('every usual form of an id or URL is recognized', () => {
  const forms: Array<[string, object]> = [
    [VIDEO, { type: 'video', id: VIDEO }],
    ['-breakwater', { type: 'video', id: '-breakwater' }],
    [CHANNEL, { type: 'channel', id: CHANNEL }],
    [PLAYLIST, { type: 'playlist', id: PLAYLIST }],
    ['PLaB3dE6gH9jKlMnOp', { type: 'playlist', id: 'PLaB3dE6gH9jKlMnOp' }],
    ['RDaB3dE6gH9jKlMnOpQrStUvWx', { type: 'playlist', id: 'RDaB3dE6gH9jKlMnOpQrStUvWx' }],
    ['LL', { type: 'playlist', id: 'LL' }],
    ['WL', { type: 'playlist', id: 'WL' }],
    ['av_playlist_12ab', { type: 'playlist', id: 'av_playlist_12ab' }],
    ['TA_playlist_12ab', { type: 'playlist', id: 'TA_playlist_12ab' }],
    ['@HarbourAndTide', { type: 'channel', id: '@HarbourAndTide', isHandle: true }],
    ['@中村悠一', { type: 'channel', id: '@中村悠一', isHandle: true }],
    [`https://www.youtube.com/watch?v=${VIDEO}&list=${PLAYLIST}&t=3`, { type: 'video', id: VIDEO }],
    [`https://m.youtube.com/watch?list=${PLAYLIST}&v=${VIDEO}`, { type: 'video', id: VIDEO }],
    [`http://127.0.0.1:8787/watch?v=${VIDEO}`, { type: 'video', id: VIDEO }],
    [`youtube.com/watch?v=${VIDEO}`, { type: 'video', id: VIDEO }],
    [`https://youtu.be/${VIDEO}?si=abc`, { type: 'video', id: VIDEO }],
    [`https://www.youtube.com/shorts/${VIDEO}`, { type: 'video', id: VIDEO, vidType: 'shorts' }],
    [`https://www.youtube.com/live/${VIDEO}`, { type: 'video', id: VIDEO }],
    [`https://www.youtube-nocookie.com/embed/${VIDEO}`, { type: 'video', id: VIDEO }],
    [`https://www.youtube.com/playlist?list=${PLAYLIST}`, { type: 'playlist', id: PLAYLIST }],
    [`https://www.youtube.com/watch?list=${PLAYLIST}`, { type: 'playlist', id: PLAYLIST }],
    [`https://www.youtube.com/channel/${CHANNEL}`, { type: 'channel', id: CHANNEL }],
    [`https://www.youtube.com/channel/${CHANNEL}/streams`, { type: 'channel', id: CHANNEL, tab: 'streams' }],
    [`https://www.youtube.com/channel/${CHANNEL}/about`, { type: 'channel', id: CHANNEL }],
    [
      'https://www.youtube.com/@HarbourAndTide/shorts/',
      { type: 'channel', id: '@HarbourAndTide', isHandle: true, tab: 'shorts' },
    ],
    ['https://www.youtube.com/%40HarbourAndTide', { type: 'channel', id: '@HarbourAndTide', isHandle: true }],
    ['https://www.youtube.com/c/Harbour', { type: 'channel', id: 'c/Harbour', isHandle: true }],
    [
      'https://www.youtube.com/user/harbour/videos',
      { type: 'channel', id: 'user/harbour', isHandle: true, tab: 'videos' },
    ],
    ['https://www.youtube.com/harbour', { type: 'channel', id: 'harbour', isHandle: true }],
  ]

  for (const [text, target] of forms) assert.deepEqual(targets(text), [target], text)
})

test('several targets in one text are separated by white space', () => {
  const found = targets(` ${VIDEO}\n\thttps://youtu.be/${VIDEO} ${CHANNEL} `)

  assert.deepEqual(
    found.map(({ type }) => type),
    ['video', 'video', 'channel'],
  )
})

test('foreign hosts, other lengths and hostile texts are refused by name', () => {
  const refused = [
    'abc',
    `${VIDEO}x`,
    'LLx',
    '@',
    '@a b',
    '@../x',
    '--exec',
    '../../etc/passwd',
    '$(id)',
    '\u0000',
    'ä'.repeat(11),
    `https://example.org/watch?v=${VIDEO}`,
    `https://youtube.com.example.org/watch?v=${VIDEO}`,
    `https://www.youtube.com@example.org/watch?v=${VIDEO}`,
    `https://user:secret@www.youtube.com/watch?v=${VIDEO}`,
    `ftp://www.youtube.com/watch?v=${VIDEO}`,
    'javascript:alert(1)',
    `file:///watch?v=${VIDEO}`,
    'https://www.youtube.com/',
    'https://www.youtube.com/watch?v=short',
    'https://www.youtube.com/watch?v=',
    'https://www.youtube.com/feed/history',
    'https://www.youtube.com/results?search_query=x',
    'https://www.youtube.com/playlist?list=PLshort',
    'https://www.youtube.com/channel/UCshort',
    'https://www.youtube.com/c/..%2f..%2fx',
    'https://www.youtube.com/%E0%A4%A',
    'https://youtu.be/',
    `https://www.youtube.com/shorts/${VIDEO}x`,
    `http://127.0.0.1:9999/watch?v=${VIDEO}`,
    'x'.repeat(100_000),
  ]

  for (const text of refused)
    assert.throws(
      () => targets(text),
      (error) => isAppError(error, 'bad_request') && error.message.length < 300,
      text.slice(0, 60),
    )
  assert.throws(
    () => targets(' \n'),
    (error) => isAppError(error, 'bad_request'),
  )
})

test('in free text, words that are no targets are skipped', () => {
  const found = targetsIn(`look at https://youtu.be/${VIDEO} and @HarbourAndTide please`)

  assert.deepEqual(found, [
    { type: 'video', id: VIDEO },
    { type: 'channel', id: '@HarbourAndTide', isHandle: true },
  ])
})
