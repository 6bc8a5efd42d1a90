/** Converts the platform's list of comments to the threads of the reply (contract 5.5). */
import { DAY_SECONDS } from 'archivolt'
import type { CommentMetadata } from '../platform/types.ts'

export interface Comment {
  comment_id: string
  comment_parent: string
  comment_text: string
  comment_timestamp: number
  comment_time_text: string
  comment_likecount: number
  comment_is_favorited: boolean
  comment_author: string
  comment_author_id: string
  comment_author_thumbnail: string
  comment_author_is_uploader: boolean
  comment_replies: Comment[]
}

const ROOT = 'root'
/** Limit of nesting: deeper replies become siblings of their parent. */
const DEEPEST = 20

/** The platform reports many times only as a day: midnight then means that the time of day is unknown. */
function timeText(timestamp: number): string {
  const instant = new Date(timestamp * 1000)
  if (Number.isNaN(instant.getTime())) return ''
  const text = instant.toISOString()
  return timestamp % DAY_SECONDS === 0 ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

const toComment = (comment: CommentMetadata): Comment => ({
  comment_id: comment.id,
  comment_parent: comment.parent,
  comment_text: comment.text,
  comment_timestamp: comment.timestamp,
  comment_time_text: timeText(comment.timestamp),
  comment_likecount: comment.likeCount,
  comment_is_favorited: comment.isFavorited,
  comment_author: comment.author,
  comment_author_id: comment.authorId,
  comment_author_thumbnail: comment.authorThumbnail,
  comment_author_is_uploader: comment.authorIsUploader,
  comment_replies: [],
})

interface Node {
  comment: Comment
  depth: number
  above: Node | undefined
}

/**
 * Roots in the given order, each with its replies. A reply whose parent has not appeared before is added to the
 * previous root; if there is no root yet, it becomes one. Duplicates are dropped.
 */
export function toThreads(comments: readonly CommentMetadata[]): { threads: Comment[]; count: number } {
  const threads: Comment[] = []
  const nodes = new Map<string, Node>()
  let lastRoot: Node | undefined
  for (const one of comments) {
    if (nodes.has(one.id)) continue
    const comment = toComment(one)
    const parent = one.parent === ROOT ? undefined : (nodes.get(one.parent) ?? lastRoot)
    const above = parent && parent.depth >= DEEPEST ? parent.above : parent
    const node = { comment, depth: above ? above.depth + 1 : 0, above }
    nodes.set(one.id, node)
    if (above) above.comment.comment_replies.push(comment)
    else {
      threads.push(comment)
      lastRoot = node
    }
  }
  return { threads, count: nodes.size }
}
