/**
 * Cached replies: they never exceed the limit, frequent ones are cached, and none is used after a change of its
 * sources.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { CachedReply, openReplyCache } from '../../../core/http/reply-cache.ts'
import { noteRead, openTouched, UNKNOWN } from '../../../core/sources.ts'

const ACCOUNT = 1
const TEXT = 'x'.repeat(10_000)
const ROOM_BYTES = 4_000_000
/** More than the cache holds. */
const URLS = Array.from({ length: 700 }, (_each, at) => `/api/video/${at}/`)

/** A cache, and functions that request its replies. */
function cacheOf(text = TEXT) {
  const touched = openTouched()
  const replies = openReplyCache(touched)
  const make = (url: string, made = text) => replies.make(url, ACCOUNT, async () => made)
  /** A reply is cached from the second request on. */
  const twice = async (url: string, made = text) => (await make(url, made)) && make(url, made)
  const cached = (urls: readonly string[]) => urls.filter((url) => replies.get(url) !== undefined).length
  return { touched, replies, make, twice, cached }
}

test('a crawl through everything evicts nothing, and a repeated request is cached', async () => {
  const { replies, make, twice, cached, touched } = cacheOf()
  const often = URLS.slice(0, 200)
  for (const url of often) await twice(url)
  for (let time = 0; time < 3; time++) {
    for (const url of URLS.slice(200)) await make(url)
    assert.equal(cached(URLS), often.length)
    touched.touch() // the same again, after a change
    for (const url of often) await make(url)
  }

  const url = '/api/video/'
  const { tag } = await make(url)
  assert.deepEqual([replies.get(url), replies.tagOf(url)], [undefined, tag], 'its tag alone is remembered')
  const reply = await make(url)
  assert.equal(replies.get(url), reply)
  touched.touch()
  assert.deepEqual([replies.get(url), replies.tagOf(url)], [undefined, undefined])
})

test('a polled reply is cached, even if it changes between two polls', async () => {
  const { replies, touched } = cacheOf()
  const poll = (isPolled: boolean) => {
    touched.touch()
    return replies.make('/api/video/', ACCOUNT, async () => TEXT, isPolled)
  }
  await poll(false)
  await poll(false)
  assert.equal(replies.get('/api/video/'), undefined)
  const reply = await poll(true)
  assert.equal(replies.get('/api/video/'), reply)
  assert.equal(await poll(true), reply)
})

test('the tags of the last 1,000 replies that were requested once are kept', async () => {
  const { replies, make } = cacheOf('{}')
  const urls = Array.from({ length: 1001 }, (_each, at) => `/api/video/${at}/`)
  for (const url of urls) await make(url)
  assert.deepEqual(
    urls.filter((url) => !replies.tagOf(url)),
    [urls[0]],
  )
  const long = `/api/video/?${'x'.repeat(2000)}`
  await make(long)
  assert.equal(replies.tagOf(long), undefined)
})

test('outdated replies make room for others at once', async () => {
  const { twice, cached, touched } = cacheOf()
  for (const url of URLS) await twice(url)

  touched.touch()
  const others = URLS.map((url) => `${url}?new`)
  for (const url of others) await twice(url)

  assert.ok(cached(others) * TEXT.length > ROOM_BYTES / 2, `${cached(others)} of them are cached`)
})

test('sizes are counted in bytes: an emoji makes a text twice as large, and long addresses count, too', async () => {
  const kept = async (text: string, urls: readonly string[] = URLS): Promise<number> => {
    const { twice, cached } = cacheOf(text)
    for (const url of urls) await twice(url)
    return cached(urls)
  }
  const isNear = (count: number, text: number) =>
    assert.ok(Math.abs(count / (ROOM_BYTES / text) - 1) < 0.01, `${count}`)

  isNear(await kept(TEXT), TEXT.length)
  isNear(await kept(TEXT.replace('x', 'é')), TEXT.length)
  isNear(await kept(TEXT.replace('xx', '🌊')), 2 * TEXT.length)
  const longUrls = URLS.map((url) => url + 'x'.repeat(1900))
  isNear(await kept(TEXT, longUrls), TEXT.length + 1900)
})

test('a reply that was requested compressed is held in that form alone: more replies fit, and the text is the same', async () => {
  const { replies, twice } = cacheOf()
  for (const url of URLS) await (await twice(url)).compressed()

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

test('a reply that was requested in both forms is held in both, and counts with both sizes', async () => {
  const { replies, twice, cached } = cacheOf()
  for (const url of URLS) await (await twice(url)).compressed()
  const [reply] = URLS.map((url) => replies.get(url)!)
  const compressed = await reply!.compressed()

  const plain = reply!.plain
  for (const url of URLS) replies.get(url)?.plain
  await twice('/api/more/')

  assert.equal(reply!.plain, plain, 'it is unpacked once')
  assert.equal(await reply!.compressed(), compressed)
  assert.ok(cached(URLS) < URLS.length, 'others were evicted for their plain forms')
})

test('a reply that is made again with the same text keeps its compressed form', async () => {
  const { make, twice, touched } = cacheOf()
  const compressed = await (await twice('/api/video/')).compressed()

  touched.touch()
  const again = await make('/api/video/')
  const other = await make('/api/video/', `${TEXT}!`)

  assert.equal(await again.compressed(), compressed)
  assert.equal(gunzipSync(await other.compressed()).toString(), `${TEXT}!`)
})

test('a reply that is made again is sent plain without being decompressed', async () => {
  const { make, twice, touched } = cacheOf('{}')
  await (await twice('/api/video/')).compressed()

  touched.touch()

  assert.equal((await make('/api/video/')).plain, '{}', 'decompressed, it would be a Buffer')
})

test('compressing a reply that has left the cache does not change the cache’s size', async () => {
  const { replies, twice, cached } = cacheOf()
  const early = await twice('/api/early/')
  replies.clear()
  await early.compressed()
  for (const url of URLS) await twice(url)

  assert.ok(cached(URLS) * TEXT.length <= ROOM_BYTES, `${cached(URLS)} of them are held`)
})

test('a reply is cached until one of its sources changes, even if that happens while it is made', async () => {
  const { replies } = cacheOf()
  const [read, other, late] = [openTouched(), openTouched(), openTouched()]
  const ask = async (key: string, ...work: Array<() => void>) => {
    for (let time = 0; time < 2; time++)
      await replies.make(key, ACCOUNT, async () => {
        for (const each of work) each()
        return key
      })
  }
  await ask('one', () => noteRead(read))
  await ask('two', () => noteRead(other))
  await ask('late', () => noteRead(late), late.touch)
  await ask('unknown', () => noteRead(UNKNOWN))
  const isCached = (key: string) => replies.get(key) !== undefined

  assert.deepEqual(['one', 'two', 'late', 'unknown'].map(isCached), [true, true, false, false])
  read.touch()
  assert.deepEqual(['one', 'two'].map(isCached), [false, true])
})

test('the tag of a reply depends on its text and its account', () => {
  const tag = new CachedReply(TEXT, 1).tag

  assert.equal(new CachedReply(TEXT, 1).tag, tag)
  assert.notEqual(new CachedReply(TEXT, 2).tag, tag)
  const long = 'ü'.repeat(40_000)
  assert.equal(new CachedReply(long, 1).plain.toString(), long)
})
