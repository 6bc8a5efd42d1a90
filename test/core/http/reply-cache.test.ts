/** Replies that are kept: never more than fit, those that are asked for often, and none from before a write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Actor } from '../../../core/accounts/authentication.ts'
import { CachedReply, ReplyCache } from '../../../core/http/reply-cache.ts'

const ACTOR = { id: 1 } as Actor
const TEXT = 'x'.repeat(15_000)
const ROOM_BYTES = 4_000_000
/** More than fit. */
const URLS = Array.from({ length: 700 }, (_each, at) => `/api/video/${at}/`)

test('a walk through everything leaves most of what is kept, and what is asked for often comes in', () => {
  let version = 1
  const replies = new ReplyCache('life', () => String(version))
  const ask = (url: string): boolean => {
    const state = replies.stateFor(ACTOR)!
    const isKept = replies.get(state, url) !== undefined
    if (!isKept) replies.set(state, url, new CachedReply(TEXT))
    return isKept
  }
  const hits = (urls: readonly string[]): number => urls.filter(ask).length

  assert.equal(hits(URLS), 0)
  const again = hits(URLS)
  assert.ok(again > URLS.length / 4, `${again} of the first are still there`)
  assert.ok(again < URLS.length / 2, `${again} are more than there is room for`)

  assert.equal(ask('/api/video/'), false)
  let asked = 1
  while (!ask('/api/video/')) asked++
  assert.ok(asked < 20, `it came in after ${asked} times`)

  version++
  assert.equal(ask('/api/video/'), false)
})

test('what is kept is counted in bytes: an emoji makes a text twice as large, and long addresses take room too', () => {
  const kept = (text: string, urls: readonly string[] = URLS): number => {
    const replies = new ReplyCache('life', () => '1')
    const state = replies.stateFor(ACTOR)!
    for (const url of urls) replies.set(state, url, new CachedReply(text))
    return urls.filter((url) => replies.get(state, url) !== undefined).length
  }
  const isNear = (count: number, text: number) =>
    assert.ok(Math.abs(count / (ROOM_BYTES / text) - 1) < 0.01, `${count}`)

  isNear(kept(TEXT), TEXT.length)
  isNear(kept(TEXT.replace('x', 'é')), TEXT.length)
  isNear(kept(TEXT.replace('xx', '🌊')), 2 * TEXT.length)
  isNear(
    kept(
      '{}',
      URLS.map((url) => url + TEXT),
    ),
    TEXT.length,
  )
})

test('what somebody has taken compressed is held in that form alone: more replies fit, and the text is the same', async () => {
  const replies = new ReplyCache('life', () => '1')
  const state = replies.stateFor(ACTOR)!
  for (const url of URLS) {
    replies.set(state, url, new CachedReply(TEXT))
    await replies.get(state, url)?.compressed()
  }

  const held = URLS.map((url) => replies.get(state, url))
  assert.ok(
    held.every((reply) => reply !== undefined),
    'all of them fit',
  )
  assert.equal(held[0]!.text, TEXT)
  const compressed = await held[0]!.compressed()
  assert.equal(gunzipSync(compressed).toString(), TEXT)
  assert.equal(compressed.buffer.byteLength, compressed.length, 'no larger buffer stays behind it')
})

test('a reply that is compressed after it has left the cache leaves its room as it is', async () => {
  const replies = new ReplyCache('life', () => '1')
  const state = replies.stateFor(ACTOR)!
  const early = new CachedReply(TEXT)
  replies.set(state, '/api/early/', early)
  replies.clear('1')
  await early.compressed()
  for (const url of URLS) replies.set(state, url, new CachedReply(TEXT))

  const held = URLS.filter((url) => replies.get(state, url) !== undefined).length
  assert.ok(held * TEXT.length <= ROOM_BYTES, `${held} of them are held`)
})
