/** The metadata that TubeArchivist writes into films, in malicious and truncated files. */
import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { readFilmTags } from '../../../plugins/film-kit/tubearchivist-film.ts'
import { box, boxOf64, tagsOf } from '../../support/film-atom.ts'
import { temporaryFolder } from '../../support/folder.ts'

const TEXT = JSON.stringify({ video: { youtube_id: 'aaaaaaaaaaa', title: 'Inside' }, comments: {} })
const START = box('ftyp', Buffer.from('isom\0\0\u0002\0isom', 'latin1'))
const withTags = (text: string, name = 'ta'): Buffer =>
  box('moov', box('mvhd', Buffer.alloc(100)), tagsOf('com.tubearchivist', name, text))

/** @param sizeBytes  default: the actual size */
async function told(t: TestContext, film: Buffer, sizeBytes = film.length): Promise<unknown> {
  const path = join(await temporaryFolder(t), 'film.mp4')
  await writeFile(path, film)
  await truncate(path, sizeBytes)
  const file = openSync(path, 'r')
  try {
    return readFilmTags(file, sizeBytes)?.info['title']
  } finally {
    closeSync(file)
  }
}

test('it is read wherever the head of the film is', async (t) => {
  const pictures = Buffer.alloc(1000, 7)
  assert.equal(await told(t, Buffer.concat([START, withTags(TEXT), box('mdat', pictures)])), 'Inside')
  assert.equal(await told(t, Buffer.concat([START, box('mdat', pictures), withTags(TEXT)])), 'Inside')
  assert.equal(await told(t, Buffer.concat([START, boxOf64('mdat', pictures), withTags(TEXT)])), 'Inside')
  assert.equal(await told(t, Buffer.concat([START, withTags(TEXT, 'other')])), undefined)
})

test('boxes with wrong sizes, too many boxes and incomplete boxes contain nothing', async (t) => {
  const sized = (size: number) => {
    const wrong = box('free')
    wrong.writeUInt32BE(size)
    return Buffer.concat([START, wrong, withTags(TEXT)])
  }
  for (const size of [1, 2, 7, 0x7fffffff, 0xffffffff]) assert.equal(await told(t, sized(size)), undefined, `${size}`)
  const many = Array.from({ length: 20_000 }, () => box('free'))
  assert.equal(await told(t, Buffer.concat([START, ...many, withTags(TEXT)])), undefined)
  const whole = Buffer.concat([START, withTags(TEXT)])
  for (let size = 0; size < whole.length; size += 9) assert.equal(await told(t, whole, size), undefined, `${size}`)
})

test('a box that is larger than the limit is not read', async (t) => {
  const head = Buffer.concat([START, withTags(TEXT.replace('Inside', 'Inside'.padEnd(1000)))])
  // The file is that long, but sparse.
  const most = 70 << 20
  for (const type of ['moov', 'udta', 'meta', 'ilst', '----', 'data'])
    head.writeUInt32BE(head.readUInt32BE(head.indexOf(type) - 4) + most, head.indexOf(type) - 4)

  assert.equal(await told(t, head, head.length + most), undefined)
})
