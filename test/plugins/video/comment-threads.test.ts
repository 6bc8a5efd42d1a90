/** Comments become threads, even if the list is incomplete or hostile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CommentMetadata } from '../../../plugins/platform/types.ts'
import { type Comment, toThreads } from '../../../plugins/video/comment-threads.ts'

const aComment = (id: string, parent = 'root', changes: Partial<CommentMetadata> = {}): CommentMetadata => ({
  id,
  parent,
  text: `text of ${id}`,
  timestamp: 1_709_300_000,
  likeCount: 0,
  isFavorited: false,
  author: 'someone',
  authorId: 'UC1',
  authorThumbnail: '',
  authorIsUploader: false,
  ...changes,
})

const shape = (comments: Comment[]): string =>
  comments
    .map(
      ({ comment_id, comment_replies }) => comment_id + (comment_replies.length ? `(${shape(comment_replies)})` : ''),
    )
    .join(' ')

test('replies are below their parent, roots in the given order', () => {
  const { threads, count } = toThreads([
    aComment('a'),
    aComment('a1', 'a'),
    aComment('b'),
    aComment('a2', 'a'),
    aComment('a11', 'a1'),
  ])

  assert.equal(shape(threads), 'a(a1(a11) a2) b')
  assert.equal(count, 5)
})

test('a reply without its parent goes to the previous root, or becomes one', () => {
  const { threads } = toThreads([
    aComment('x', 'gone'),
    aComment('a'),
    aComment('y', 'gone'),
    aComment('z', 'later'),
    aComment('later'),
  ])

  assert.equal(shape(threads), 'x a(y z) later')
})

test('a comment listed twice counts once, and none is lost in a cycle', () => {
  const { threads, count } = toThreads([aComment('a', 'b'), aComment('b', 'a'), aComment('a'), aComment('c', 'c')])

  assert.equal(count, 3)
  assert.equal(shape(threads), 'a(b c)')
})

test('nesting is limited', () => {
  const chain = Array.from({ length: 5000 }, (_, step) => aComment(`c${step}`, step === 0 ? 'root' : `c${step - 1}`))
  let deepest = 0
  const measure = (comments: Comment[], depth: number): void =>
    comments.forEach((comment) => measure(comment.comment_replies, (deepest = Math.max(deepest, depth)) && depth + 1))

  const { threads, count } = toThreads(chain)

  measure(threads, 1)
  assert.equal(count, 5000)
  assert.ok(deepest <= 21, String(deepest))
})

test('the time text has a time of day only if it is known', () => {
  const [day, minute] = toThreads([aComment('a', 'root', { timestamp: 1_709_251_200 }), aComment('b')]).threads

  assert.equal(day?.comment_time_text, '2024-03-01')
  assert.equal(minute?.comment_time_text, '2024-03-01 13:33')
})
