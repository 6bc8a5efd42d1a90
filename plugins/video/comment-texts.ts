/**
 * Makes each comment a document of its own for the search. Threads are first written without `searchable`; the task
 * index_comments finds those that still lack it because of an interruption, a restore, the bin or an older version.
 */
import { defineTask, errors, listUnder, say, Type } from 'archivolt'
import type { App } from './app.ts'
import { elementsOf, inReadingOrder } from './comment-pages.ts'
import type { Comment } from './comment-threads.ts'
import type { CommentDoc, CommentTextDoc } from './schema.ts'
import type { VideoState } from './state.ts'
import type { Videos } from './types.ts'

const COMMENTS_PER_WRITE = 500
const VIDEOS_PER_LOOKUP = 50
/** Maximum length of a text: longer than the platform allows. */
const MOST_CHARACTERS = 10_000

const isMissing = { not: { eq: ['searchable', true] as ['searchable', boolean] } }

export const notSearchable = ({ searchable: _searchable, ...doc }: CommentDoc): CommentDoc => doc

export const indexComments = defineTask({
  name: 'index_comments',
  title: 'Make comments searchable',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  retries: { times: 5, delaySeconds: 60, factor: 4 },
  run: (job, app: App) => app.videos.indexComments(job),
})

export function openCommentTexts(state: VideoState) {
  const { app, comments, exclusive } = state
  return {
    async startIndexing() {
      if ((await comments.count(isMissing, 1)) > 0) await app.jobs.start(indexComments)
    },

    async indexComments(job) {
      // A damaged document cannot be made searchable, so each video is tried once; the next fetch of its comments
      // repairs it.
      const seen = new Set<string>()
      for (;;) {
        const { hits, total } = await comments.find({ filter: isMissing, size: VIDEOS_PER_LOOKUP, withoutTexts: true })
        if (hits.every(({ id }) => seen.has(id))) return
        for (const [at, { id }] of hits.entries()) {
          job.signal.throwIfAborted()
          if (job.isStopping()) return
          seen.add(id)
          job.progress(0, say`Videos whose comments are not searchable yet: ${{ count: total - at }}`)
          await exclusive(id, () => indexCommentsOf(state, id))
        }
      }
    },
  } satisfies Partial<Videos>
}

/** Replaces the documents of a video's comments. Call it within `exclusive`. */
export async function indexCommentsOf({ collection, comments, commentTexts }: VideoState, id: string): Promise<void> {
  const [text, channelId] = [await comments.getText(id), (await collection.get(id))?.channel_id]
  // Comments of a missing video are removed by `dropOrphans`.
  if (text === undefined || channelId === undefined) return
  await commentTexts.removeWhere({ eq: ['platform_id', id] })
  let batch: Array<{ id: string; doc: CommentTextDoc }> = []
  let count = 0
  const write = async () => {
    const { failed } = await commentTexts.putMany(batch)
    if (failed.length > 0) throw errors.unavailable('Comments could not be indexed', { cause: failed[0]?.reason })
    batch = []
  }
  for (const root of elementsOf(listUnder(text, 'comment_comments')))
    for (const comment of inReadingOrder(JSON.parse(root) as Comment)) {
      batch.push({ id: `${id}-${++count}`, doc: toDoc(comment, id, channelId) })
      if (batch.length >= COMMENTS_PER_WRITE) await write()
    }
  if (batch.length > 0) await write()
  await comments.patch(id, { set: { searchable: true } }, { visible: true })
}

/** Restored comments may lack any field. */
const toDoc = (comment: Partial<Comment>, id: string, channelId: string): CommentTextDoc => ({
  platform_id: id,
  comment_id: textOf(comment.comment_id),
  comment_author: textOf(comment.comment_author),
  comment_text: textOf(comment.comment_text).slice(0, MOST_CHARACTERS),
  comment_timestamp: numberOf(comment.comment_timestamp),
  comment_likecount: numberOf(comment.comment_likecount),
  channel_id: channelId,
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const numberOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)
