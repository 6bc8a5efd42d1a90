/** Replies that are cached: never more than fit, those that are asked for often, and none after a change of its sources. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { CachedReply, ReplyCache } from '../../../core/http/reply-cache.ts'
import { noteRead, openTouched, UNKNOWN } from '../../../core/sources.ts'

const ACCOUNT = 1
const TEXT = 'x'.repeat(15_000)
const ROOM_BYTES = 4_000_000
/** More than fit. */
const URLS = Array.from({ length: 700 }, (_each, at) => `/api/video/${at}/`)

/** A cache, and how its replies are asked for. */
function cacheOf(text = TEXT) {
  const touched = openTouched()
  const replies = new ReplyCache(touched)
  const make = (url: string, made = text) => replies.make(url, ACCOUNT, async () => made)
  const cached = (urls: readonly string[]) => urls.filter((url) => replies.get(url) !== undefined).length
  return { touched, replies, make, cached }
}

test('a walk through everything leaves most of what is cached, and what is asked for often comes in', async () => {
  const { replies, make, touched } = cacheOf()
  const ask = async (url: string): Promise<boolean> => {
    const isCached = replies.get(url) !== undefined
    if (!isCached) await make(url)
    return isCached
  }
  const hits = async (): Promise<number> => {
    let count = 0
    for (const url of URLS) if (await ask(url)) count++
    return count
  }

  assert.equal(await hits(), 0)
  const again = await hits()
  assert.ok(again > URLS.length / 4, `${again} of the first are still there`)
  assert.ok(again < URLS.length / 2, `${again} are more than there is room for`)

  assert.equal(await ask('/api/video/'), false)
  let asked = 1
  while (!(await ask('/api/video/'))) asked++
  assert.ok(asked < 20, `it came in after ${asked} times`)

  touched.touch()
  assert.equal(await ask('/api/video/'), false)
})

test('outdated replies make room for others at once', async () => {
  const { make, cached, touched } = cacheOf()
  for (const url of URLS) await make(url)

  touched.touch()
  const others = URLS.map((url) => `${url}?new`)
  for (const url of others) await make(url)

  assert.ok(cached(others) * TEXT.length > ROOM_BYTES / 2, `${cached(others)} of them are cached`)
})

test('what is cached is counted in bytes: an emoji makes a text twice as large, and long addresses take room too', async () => {
  const kept = async (text: string, urls: readonly string[] = URLS): Promise<number> => {
    const { make, cached } = cacheOf(text)
    for (const url of urls) await make(url)
    return cached(urls)
  }
  const isNear = (count: number, text: number) =>
    assert.ok(Math.abs(count / (ROOM_BYTES / text) - 1) < 0.01, `${count}`)

  isNear(await kept(TEXT), TEXT.length)
  isNear(await kept(TEXT.replace('x', 'é')), TEXT.length)
  isNear(await kept(TEXT.replace('xx', '🌊')), 2 * TEXT.length)
  const longUrls = URLS.map((url) => url + TEXT)
  isNear(await kept('{}', longUrls), TEXT.length)
})

test('what somebody has taken compressed is held in that form alone: more replies fit, and the text is the same', async () => {
  const { replies, make } = cacheOf()
  for (const url of URLS) await (await make(url)).compressed()

  const held = URLS.map((url) => replies.get(url))
  assert.ok(
    held.every((reply) => reply !== undefined),
    'all of them fit',
  )
  assert.equal(held[0]!.plain.toString(), TEXT)
  const compressed = await held[0]!.compressed()
  assert.equal(gunzipSync(compressed).toString(), TEXT)
  assert.equal(compressed.buffer.byteLength, compressed.length, 'no larger buffer stays behind it')
})

test('what is taken in both forms is held in both, and takes the room of both', async () => {
  const { replies, make, cached } = cacheOf()
  for (const url of URLS) await (await make(url)).compressed()
  const [reply] = URLS.map((url) => replies.get(url)!)
  const compressed = await reply!.compressed()

  const plain = reply!.plain
  for (const url of URLS) replies.get(url)?.plain
  for (const url of URLS.slice(0, 8)) await make(`${url}more`) // the eighth evicts others

  assert.equal(reply!.plain, plain, 'it is unpacked once')
  assert.equal(await reply!.compressed(), compressed)
  assert.ok(cached(URLS) < URLS.length, 'others were evicted for their plain forms')
})

test('a reply that is made again and is the same keeps its compressed form', async () => {
  const { make, touched } = cacheOf()
  const compressed = await (await make('/api/video/')).compressed()

  touched.touch()
  const again = await make('/api/video/')
  const other = await make('/api/video/', `${TEXT}!`)

  assert.equal(await again.compressed(), compressed)
  assert.equal(gunzipSync(await other.compressed()).toString(), `${TEXT}!`)
})

test('a reply that is compressed after it has left the cache leaves its room as it is', async () => {
  const { replies, make, cached } = cacheOf()
  const early = await make('/api/early/')
  replies.clear()
  await early.compressed()
  for (const url of URLS) await make(url)

  assert.ok(cached(URLS) * TEXT.length <= ROOM_BYTES, `${cached(URLS)} of them are held`)
})

test('a reply is cached until one of its sources changes, also where that happens while it is made', async () => {
  const { replies } = cacheOf()
  const [read, other, late] = [openTouched(), openTouched(), openTouched()]
  const ask = (key: string, ...work: Array<() => void>) =>
    replies.make(key, ACCOUNT, async () => {
      for (const each of work) each()
      return key
    })
  await ask('one', () => noteRead(read))
  await ask('two', () => noteRead(other))
  await ask('late', () => noteRead(late), late.touch)
  await ask('unknown', () => noteRead(UNKNOWN))
  const isCached = (key: string) => replies.get(key) !== undefined

  assert.deepEqual(['one', 'two', 'late', 'unknown'].map(isCached), [true, true, false, false])
  read.touch()
  assert.deepEqual(['one', 'two'].map(isCached), [false, true])
})

test('the tag of a reply is that of its text and its account', () => {
  const tag = new CachedReply(TEXT, 1).tag

  assert.equal(new CachedReply(TEXT, 1).tag, tag)
  assert.notEqual(new CachedReply(TEXT, 2).tag, tag)
  const long = 'ü'.repeat(40_000)
  assert.equal(new CachedReply(long, 1).plain.toString(), long)
})
