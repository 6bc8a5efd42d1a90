/** Comments in threads, loaded page by page when they come into view; a search hit shows its thread first. */

import { Heart, ThumbsUp } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../../parts/action.ts'
import { ActionButton, Button } from '../../parts/button.tsx'
import { HostileText } from '../../parts/hostile-text.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Box, Failed } from '../../parts/states.tsx'
import { get } from '../../server/api.ts'
import { getPage } from '../../server/paged.ts'
import type { Comment, Thread, ThreadPart } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toCompact, toMoment, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

const NEAR_PX = 600

interface CommentsProps {
  id: string
  count: number
  /** The id of a comment whose thread is shown first. */
  linked: string | null
  duration: number
  onJump: (seconds: number) => void
}

export function Comments({ id, count, linked, duration, onJump }: CommentsProps) {
  const [isNear, setNear] = useState(false)
  const section = useRef<HTMLElement>(null)
  const times = { duration, onJump }
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry!.isIntersecting && setNear(true), {
      rootMargin: `${NEAR_PX}px`,
    })
    observer.observe(section.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <section ref={section} class="comments">
      <h2>
        {t('video.comments')} {count > 0 && <span class="meta">{toNumber(count)}</span>}
      </h2>
      {linked !== null && <LinkedThread key={linked} id={id} linked={linked} times={times} />}
      {count === 0 ? (
        <p class="hint">{t('video.noComments')}</p>
      ) : isNear ? (
        <Threads id={id} times={times} />
      ) : (
        <Box height="120px" radius="8px" />
      )}
    </section>
  )
}

type Times = { duration: number; onJump: (seconds: number) => void }

function LinkedThread({ id, linked, times }: { id: string; linked: string; times: Times }) {
  const { now, reload } = useLoad(`video/${id}/thread/${linked}`, (signal) => getPart(id, linked, undefined, signal))
  const { state, value, failure } = now.value
  if (state === 'loading') return <Box height="120px" radius="8px" />
  if (state === 'failed')
    return failure.status === 404 ? (
      <p class="hint">{t('video.commentGone')}</p>
    ) : (
      <Failed failure={failure} onRetry={reload} />
    )
  return (
    <ol class="linked-thread" aria-label={t('video.linkedThread')}>
      <ThreadItem id={id} thread={value.thread} part={value.part} linked={linked} times={times} />
    </ol>
  )
}

const getPart = (id: string, comment: string, part?: number, signal?: AbortSignal): Promise<ThreadPart> =>
  get<ThreadPart>(`/api/video/${id}/thread/${encodeURIComponent(comment)}/`, { part }, signal)

function Threads({ id, times }: { id: string; times: Times }) {
  const getThreads = (page: number, signal?: AbortSignal) =>
    getPage<Thread>(`/api/video/${id}/thread/`, { page }, signal)
  const { now, reload } = useLoad(`video/${id}/threads`, (signal) => getThreads(1, signal))
  const [later, setLater] = useState<Thread[]>([])
  const [page, setPage] = useState(1)
  const { state, value, failure } = now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={reload} />
  if (state === 'loading') return <Box height="120px" radius="8px" />
  const isMore = page * value.paginate.page_size < value.paginate.total_hits
  const more = async () => {
    const { data } = await getThreads(page + 1)
    setLater([...later, ...data])
    setPage(page + 1)
  }
  return (
    <>
      <ol>
        {[...value.data, ...later].map((thread) => (
          <ThreadItem key={thread.comment_id} id={id} thread={thread} part={0} times={times} />
        ))}
      </ol>
      {isMore && <Button onClick={more}>{t('video.moreComments')}</Button>}
    </>
  )
}

interface ThreadProps {
  id: string
  thread: Thread
  /** Which hundred of its replies the thread contains; 0: only some of the first ones. */
  part: number
  linked?: string
  times: Times
}

function ThreadItem({ id, thread, part, linked, times }: ThreadProps) {
  const { comment_id: root, comment_reply_count: count } = thread
  const [isOpen, setOpen] = useState(linked !== undefined)
  const [replies, setReplies] = useState(thread.comment_replies)
  const [[first, last], setParts] = useState([part, part])
  const { isBusy, run } = useAction()
  const isEarlier = first > 1
  const isLater = last * REPLIES_PER_PART < count && replies.length < count
  const add = async (number: number) => {
    const { comment_replies: found } = (await getPart(id, root, number)).thread
    // The first replies of a thread in the list are part of the first hundred.
    if (last === 0) setReplies(found)
    else setReplies(number < first ? [...found, ...replies] : [...replies, ...found])
    setParts(last === 0 ? [number, number] : [Math.min(first, number), Math.max(last, number)])
  }
  const authors = new Map(replies.map((one) => [one.comment_id, one.comment_author]))
  const button = (key: 'video.earlierReplies' | 'video.moreReplies', number: number) => (
    <li>
      <ActionButton class="link" isBusy={isBusy} onClick={() => run(() => add(number))}>
        {t(key)}
      </ActionButton>
    </li>
  )
  return (
    <li class="comment">
      <Text comment={thread} isLinked={linked === root} times={times} />
      {count > 0 && (
        <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('video.replies', { count })}
        </button>
      )}
      {isOpen && count > 0 && (
        <ol class="replies">
          {isEarlier && button('video.earlierReplies', first - 1)}
          {replies.map((reply) => (
            <li key={reply.comment_id}>
              <Text
                comment={reply}
                to={authors.get(reply.comment_parent)}
                isLinked={linked === reply.comment_id}
                times={times}
              />
            </li>
          ))}
          {isLater && button('video.moreReplies', last + 1)}
        </ol>
      )}
    </li>
  )
}

/** The server's size of a part (contract 5.5). */
const REPLIES_PER_PART = 100

/** @param to  the author of the comment that this one replies to */
function Text(props: { comment: Comment; to?: string | undefined; isLinked: boolean; times: Times }) {
  const { comment, to, isLinked, times } = props
  const own = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isLinked) own.current?.scrollIntoView({ block: 'center' })
  }, [isLinked])
  return (
    <div ref={own} class={isLinked ? 'linked-comment' : undefined} aria-current={isLinked ? 'true' : undefined}>
      <p class="comment-head">
        <strong dir="auto">{comment.comment_author}</strong>
        {comment.comment_author_is_uploader && <span class="tag">{t('video.author')}</span>}
        {to !== undefined && <span dir="auto">{t('video.replyTo', { author: to })}</span>}
        {comment.comment_timestamp > 0 && (
          <span title={toMoment(comment.comment_timestamp)}>{toAge(comment.comment_timestamp)}</span>
        )}
      </p>
      <p dir="auto">
        <HostileText text={comment.comment_text} times={times} />
      </p>
      {(comment.comment_likecount > 0 || comment.comment_is_favorited) && (
        <p class="comment-foot">
          {comment.comment_likecount > 0 && (
            <span>
              <Icon node={ThumbsUp} size={16} /> {toCompact(comment.comment_likecount)}
            </span>
          )}
          {comment.comment_is_favorited && (
            <span title={t('video.loved')}>
              <Icon node={Heart} size={16} isFilled />
              <span class="unseen">{t('video.loved')}</span>
            </span>
          )}
        </p>
      )}
    </div>
  )
}
