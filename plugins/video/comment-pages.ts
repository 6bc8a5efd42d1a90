/**
 * Pages of a video's threads, cut from the stored JSON text: a video may have a hundred thousand comments, and only
 * those of a page are parsed.
 */
import type { Comment } from './comment-threads.ts'

/** Maximum number of replies below a comment in a list of threads. */
const FIRST_REPLIES = 20
const REPLIES_PER_PART = 100
const [QUOTE, BACKSLASH, OPENING, CLOSING] = ['"', '\\', '{', '}'].map((sign) => sign.charCodeAt(0))

export type Thread = Comment & { comment_reply_count: number }

export interface ThreadPart {
  /** The root, with the replies of this part in reading order, not nested. */
  thread: Thread
  /** Number of the part of up to 100 replies, from 1. */
  part: number
  parts: number
}

/** The objects of a JSON list, as texts. */
export function* elementsOf(list: string): Generator<string> {
  for (const [from, end] of spansOf(list)) yield list.slice(from, end)
}

function* spansOf(list: string): Generator<[from: number, end: number]> {
  let depth = 0
  let from = 0
  for (let at = 0; at < list.length; at++) {
    const sign = list.charCodeAt(at)
    if (sign === QUOTE) at = endOfString(list, at)
    else if (sign === OPENING && depth++ === 0) from = at
    else if (sign === CLOSING && --depth === 0) yield [from, at + 1]
  }
}

/** Position of the quote that ends the string beginning at `from`. */
function endOfString(list: string, from: number): number {
  for (let at = list.indexOf('"', from + 1); at !== -1; at = list.indexOf('"', at + 1)) {
    let slashes = 0
    while (list.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++
    if (slashes % 2 === 0) return at
  }
  return list.length
}

/** The comment, then its replies, each followed by its own replies. */
export function* inReadingOrder(comment: Comment): Generator<Comment> {
  const following = [comment]
  for (let next = following.pop(); next; next = following.pop()) {
    yield next
    const replies = next.comment_replies ?? []
    for (let at = replies.length - 1; at >= 0; at--) following.push(replies[at]!)
  }
}

export function pageOfThreads(list: string, from: number, size: number): { texts: string[]; total: number } {
  const texts: string[] = []
  let total = 0
  for (const [start, end] of spansOf(list)) {
    if (total >= from && total < from + size) texts.push(JSON.stringify(withFirstReplies(list.slice(start, end))))
    total++
  }
  return { texts, total }
}

function withFirstReplies(text: string): Thread {
  const [root, ...replies] = inReadingOrder(JSON.parse(text) as Comment)
  return cutTo(root!, replies, 0, FIRST_REPLIES)
}

const cutTo = (root: Comment, replies: readonly Comment[], from: number, size: number): Thread => ({
  ...root,
  comment_reply_count: replies.length,
  comment_replies: replies.slice(from, from + size).map((reply) => ({ ...reply, comment_replies: [] })),
})

export function partOfThread(list: string, commentId: string, part?: number): ThreadPart | undefined {
  const at = list.indexOf(`"comment_id":${JSON.stringify(commentId)}`)
  if (at === -1) return undefined
  for (const [from, end] of spansOf(list)) {
    if (end < at) continue
    const [root, ...replies] = inReadingOrder(JSON.parse(list.slice(from, end)) as Comment)
    const own = replies.findIndex(({ comment_id: id }) => id === commentId)
    const parts = Math.max(1, Math.ceil(replies.length / REPLIES_PER_PART))
    const shown = part ?? Math.floor(Math.max(0, own) / REPLIES_PER_PART) + 1
    return {
      thread: cutTo(root!, replies, (shown - 1) * REPLIES_PER_PART, REPLIES_PER_PART),
      part: shown,
      parts,
    }
  }
  return undefined
}
