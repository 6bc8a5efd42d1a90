/** Pages are cut from the stored text of all threads, whatever the comments contain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsOf, pageOfThreads, partOfThread } from '../../../plugins/video/comment-pages.ts'
import type { Comment } from '../../../plugins/video/comment-threads.ts'

const aComment = (id: string, text: string, replies: Comment[] = []) =>
  ({ comment_id: id, comment_text: text, comment_replies: replies }) as Comment

const HOSTILE = ['}', '{', '"', '\\', '\\"', '\\\\"}],[{', '"comment_id":"c3"', ']}', '\u2028', '\ud83d']

test('each thread is cut correctly, whatever its comments contain', () => {
  const threads = HOSTILE.map((text, at) => aComment(`c${at}`, text, [aComment(`r${at}`, text)]))

  const cut = [...elementsOf(JSON.stringify(threads))].map((text) => JSON.parse(text))

  assert.deepEqual(cut, JSON.parse(JSON.stringify(threads)))
  assert.deepEqual([...elementsOf('[]')], [])
})

test('a page has its threads with their first replies, and the number of all replies', () => {
  const replies = Array.from({ length: 30 }, (_, at) =>
    aComment(`r${at}`, 'reply', at === 0 ? [aComment('rr', '')] : []),
  )
  const list = JSON.stringify([aComment('a', ''), aComment('b', '', replies), aComment('c', '')])

  const { texts, total } = pageOfThreads(list, 1, 2)

  const [second, third] = texts.map((text) => JSON.parse(text))
  assert.equal(total, 3)
  assert.deepEqual([second.comment_id, second.comment_reply_count, second.comment_replies.length], ['b', 31, 20])
  assert.deepEqual(
    second.comment_replies.slice(0, 3).map((one: Comment) => one.comment_id),
    ['r0', 'rr', 'r1'],
  )
  assert.deepEqual([third.comment_id, third.comment_reply_count, third.comment_replies], ['c', 0, []])
})

test('the page of a comment is found by the comment’s id, not by texts that mention it', () => {
  const replies = Array.from({ length: 250 }, (_, at) => aComment(`r${at}`, `"comment_id":"r249"`))
  const list = JSON.stringify([aComment('a', '"comment_id":"r249"'), aComment('b', '', replies), aComment('c', '')])

  const part = partOfThread(list, 'r249')
  const first = partOfThread(list, 'r249', 1)

  assert.deepEqual([part?.thread.comment_id, part?.part, part?.parts], ['b', 3, 3])
  assert.equal(part?.thread.comment_replies.at(-1)?.comment_id, 'r249')
  assert.deepEqual([first?.part, first?.thread.comment_replies.length], [1, 100])
  assert.equal(partOfThread(list, 'b')?.part, 1)
  assert.equal(partOfThread(list, 'nobody'), undefined)
})
