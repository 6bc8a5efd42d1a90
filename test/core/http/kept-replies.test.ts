/** Replies that are kept: never more than fit, those that are asked for often, and none from before a write. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Actor } from '../../../core/accounts/authentication.ts'
import { KeptReplies } from '../../../core/http/kept-replies.ts'

const ACTOR = { id: 1 } as Actor
const TEXT = 'x'.repeat(15_000)
/** More than fit. */
const URLS = Array.from({ length: 2000 }, (_each, at) => `/api/video/${at}/`)

test('a walk through everything leaves most of what is kept, and what is asked for often comes in', () => {
  let version = 1
  const replies = new KeptReplies('life', () => String(version))
  const ask = (url: string): boolean => {
    const state = replies.stateFor(ACTOR)!
    const isKept = replies.get(state, url) !== undefined
    if (!isKept) replies.keep(state, url, TEXT)
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
