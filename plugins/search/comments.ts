/** Hits in comments (contract 5.7): author and text with marked words, and the video of the comment. */
import { type Filter, markedRanges, roundScore, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { MOST_HITS } from './first-hits.ts'
import { headsOf, type MarkOptions, markerOf } from './inside-videos.ts'
import type { Query } from './query-syntax.ts'

export const CommentHit = Type.Object({
  platform_id: Type.String(),
  title: Type.String(),
  comment_id: Type.String(),
  comment_author: Type.String({ description: 'HTML: found words are marked' }),
  comment_text: Type.String({ description: 'HTML: found words are marked; of a long text, only the part around them' }),
  comment_timestamp: Type.Integer(),
  comment_likecount: Type.Integer(),
  comment_channel: Type.String(),
  comment_channel_id: Type.String(),
  vid_thumb_url: Type.String(),
  _index: Type.String(),
  _score: Type.Number(),
})
type CommentHit = Static<typeof CommentHit>
type Stored = Omit<
  CommentHit,
  'title' | 'comment_channel' | 'comment_channel_id' | 'vid_thumb_url' | '_index' | '_score'
>

/**
 * Maximum length of the text: comments may be as long as an article, so only the part around the first mark is shown.
 */
const MOST_CHARACTERS = 600
const MOST_BEFORE = 100
/** How words are searched, and marked in the hits. */
const OPTIONS = { dropStopWords: true, prefixLast: true }

export async function findComments(
  { term, fuzziness }: Query,
  ofChannels: Array<Filter<'channel_id'>>,
  app: App,
): Promise<string[]> {
  const { hits } = await app.videos.commentTexts.find({
    text: term === '' ? undefined : { words: term, match: 'all', ...OPTIONS, fuzziness },
    filter: ofChannels.length > 0 ? { and: ofChannels } : undefined,
    size: MOST_HITS,
    withoutTotal: true,
  })
  const comments = hits.map(({ text, score }) => ({ score, comment: JSON.parse(text) as Stored }))
  const headOf = await headsOf(
    comments.map(({ comment }) => comment.platform_id),
    app,
  )
  const mark = markerOf(term, { ...OPTIONS, fuzziness })
  return comments.flatMap(({ comment, score }) => {
    const video = headOf(comment.platform_id)
    if (!video) return []
    const hit: CommentHit = Object.assign(comment, app.platform.mirror(comment.platform_id), {
      title: video.title,
      comment_author: mark(comment.comment_author),
      comment_text: mark(excerptOf(comment.comment_text, term, { ...OPTIONS, fuzziness })),
      comment_channel: video.channelName,
      comment_channel_id: video.channelId,
      vid_thumb_url: video.thumbUrl,
      _index: `${app.settings.prefix}_comment`,
      _score: roundScore(score),
    })
    return [JSON.stringify(hit)]
  })
}

function excerptOf(text: string, term: string, options: MarkOptions): string {
  if (text.length <= MOST_CHARACTERS) return text
  const mark = markedRanges(text, term, options)[0]?.[0] ?? 0
  const from = mark <= MOST_BEFORE ? 0 : mark - MOST_BEFORE
  const end = from + MOST_CHARACTERS
  return `${from > 0 ? '… ' : ''}${text.slice(from, end).toWellFormed()}${end < text.length ? ' …' : ''}`
}
