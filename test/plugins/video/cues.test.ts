/** Subtitles become fragments of five cues, whatever the file contains. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readCues, readFragments } from '../../../plugins/video/cues.ts'
import { temporaryFolder } from '../../support/folder.ts'

async function* linesOf(text: string): AsyncGenerator<string[]> {
  yield text.split('\n')
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

async function aFile(t: TestContext, text: string): Promise<string> {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'a.vtt'), text)
  return join(folder, 'a.vtt')
}

const cues = (text: string, isRolling = false) => all(readCues(linesOf(text), isRolling))

test('five cues make a fragment, the last one has the rest', async (t) => {
  const blocks = Array.from({ length: 7 }, (_, step) => `${step}\n00:0${step}.000 --> 00:0${step}.900\nline ${step}`)

  const fragments = await all(readFragments(await aFile(t, `WEBVTT\r\n\r\n${blocks.join('\n\n')}`), false))

  assert.deepEqual(fragments, [
    { index: 1, start: '00:00:00.000', end: '00:00:04.900', line: 'line 0 line 1 line 2 line 3 line 4' },
    { index: 2, start: '00:00:05.000', end: '00:00:06.900', line: 'line 5 line 6' },
  ])
})

test('header, notes, styles and cue names are no text', async () => {
  const text =
    'WEBVTT - title\nKind: captions\n\nNOTE\nnothing\n\nSTYLE\n::cue { color: red }\n\nname\n01:02:03.004 --> 01:02:04.005 align:start position:0%\n<v Ann>Tom &amp; Jerry</v> <i>run</i>\nagain'

  assert.deepEqual(await cues(text), [{ start: '01:02:03.004', end: '01:02:04.005', text: 'Tom & Jerry run again' }])
})

test('the rolling lines of automatic captions are stored once', async () => {
  const text = `WEBVTT

00:00:00.000 --> 00:00:02.000
 
hello<00:00:00.400><c> there</c>

00:00:02.000 --> 00:00:02.010
hello there
 

00:00:02.010 --> 00:00:04.000
hello there
general<00:00:02.400><c> words</c>`

  assert.deepEqual(
    (await cues(text, true)).map((cue) => cue.text),
    ['hello there', 'general words'],
  )
  assert.equal((await cues(text)).length, 3)
})

test('malformed cues are skipped', async () => {
  const cases: Array<[string, number]> = [
    ['', 0],
    ['no subtitles at all', 0],
    ['00:99:00.000 --> 00:00:01.000\nlost', 0],
    ['--> \nlost', 0],
    ['00:00.000 --> 00:01.000', 0],
    ['00:00.000 --> 00:01.000\n<b></b>', 0],
    ['00:00:00,000 --> 00:00:01,000\nsubrip', 1],
    ['00:00.000 --> 00:01.000\none\n00:01.000 --> 00:02.000\ntwo', 2],
  ]
  for (const [text, count] of cases) assert.equal((await cues(text)).length, count, text)
})

test('a line with many opening brackets is parsed quickly, and an endless line is cut', async () => {
  const text = `00:01.000 --> 00:02.000\n${'<'.repeat(200_000)}\n5 < 6 <b>and</b> on\n\n00:03.000 --> 00:04.000\n${'word '.repeat(200_000)}`

  const [first, second] = await cues(text)

  assert.equal(first!.text, '<'.repeat(2000))
  assert.deepEqual([second!.text.length, second!.text.slice(0, 10)], [2000, 'word word '])
  assert.equal((await cues('00:01.000 --> 00:02.000\n5 < 6 <b>and</b> a < b'))[0]!.text, '5 and a < b')
})

const textsOf = async (t: TestContext, text: string) =>
  (await all(readFragments(await aFile(t, text), false))).map(({ line }) => line)

test('rolling captions are stored once, whoever has made the file, with or without word timings', async (t) => {
  const machine = `WEBVTT

00:00:00.100 --> 00:00:01.000 align:start
 
the<00:00:00.300><c> heron</c><00:00:00.600><c> landed</c>

00:00:01.000 --> 00:00:01.010
the heron landed
 

00:00:01.010 --> 00:00:02.000
the heron landed
beside<00:00:01.300><c> the</c><00:00:01.600><c> quay</c>

00:00:02.000 --> 00:00:02.010
beside the quay
 

00:00:02.010 --> 00:00:02.900
beside the quay
and sang`
  const threeLines = ['one', 'two', 'three', 'four', 'five', 'six']
    .map((_, at, words) => `00:0${at}.000 --> 00:0${at}.900\n${words.slice(Math.max(0, at - 2), at + 1).join('\n')}`)
    .join('\n\n')

  const found = [
    await textsOf(t, machine),
    await textsOf(t, machine.replace(/<[^>]+>/g, '')),
    await textsOf(t, `WEBVTT\n\n${threeLines}`),
  ]

  assert.deepEqual(found, [
    ['the heron landed beside the quay and sang'],
    ['the heron landed beside the quay and sang'],
    ['one two three four five', 'six'],
  ])
})

test('a refrain is no rolling caption, and keeps its repetitions', async (t) => {
  const song = ['row row', 'row row', 'your boat', 'row row', 'row row']
    .map((text, at) => `00:0${at}.000 --> 00:0${at}.900\n${text}`)
    .join('\n\n')

  assert.deepEqual(await textsOf(t, `WEBVTT\n\n${song}`), ['row row row row your boat row row row row'])
})

test('entities are decoded once, by number and by name', async () => {
  for (const [written, shown] of [
    ['it&#39;s', "it's"],
    ['so &#x2014; really', 'so — really'],
    ['&#X1F30A; &#127754;', '🌊 🌊'],
    ['caf&eacute; &hellip; &apos;n&apos;', "café … 'n'"],
    ['&amp;#39; &amp;amp;', '&#39; &amp;'],
    ['a&#0;b&lrm;c&#8207;d', 'abcd'],
    ['&#x110000; &#99999999; &nothing; AT&T;', '&#x110000; &#99999999; &nothing; AT&T;'],
    ['&#xD800;', '\ufffd'],
  ] as const) {
    const [cue] = await cues(`WEBVTT\n\n00:01.000 --> 00:02.000\n${written}`)

    assert.equal(cue?.text, shown)
  }
})

test('a file gives the same result in any chunks, even if a line break is split', async (t) => {
  const times = Array.from({ length: 5000 }, (_, at) => `01:${String(at % 60).padStart(2, '0')}:00.000`)
  const blocks = times.map((time, at) => `${time} --> ${time}\r\n${'é'.repeat(at % 7)}line ${at}`)

  for (const shift of [0, 1, 2, 3]) {
    const text = `WEBVTT${' '.repeat(shift)}\r\n\r\n${blocks.join('\r\n\r\n')}`
    const fragments = await all(readFragments(await aFile(t, text), false))
    assert.equal(fragments.length, 1000)
    const lines = blocks.map((block) => block.split('\r\n')[1]!)
    assert.equal(fragments.map(({ line }) => line).join(' '), lines.join(' '))
  }
})
