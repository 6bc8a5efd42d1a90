/** Comments in threads: loaded when they come into view, shown in steps. */

import { Heart, ThumbsUp } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { HostileText } from '../../parts/hostile-text.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Box, Failed } from '../../parts/states.tsx'
import { get } from '../../server/api.ts'
import type { Comment, Item } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toCompact, toMoment, toNumber } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

const AT_ONCE = 20
const NEAR_PX = 600
/** Deeper replies are not indented further, because narrow columns cannot be read. */
const DEEPEST = 3

interface CommentsProps {
  id: string
  count: number
  duration: number
  onJump: (seconds: number) => void
}

export function Comments({ id, count, duration, onJump }: CommentsProps) {
  const [isNear, setNear] = useState(false)
  const section = useRef<HTMLElement>(null)
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
      {count === 0 ? (
        <p class="hint">{t('video.noComments')}</p>
      ) : isNear ? (
        <Threads id={id} times={{ duration, onJump }} />
      ) : (
        <Box height="120px" radius="8px" />
      )}
    </section>
  )
}

type Times = { duration: number; onJump: (seconds: number) => void }

function Threads({ id, times }: { id: string; times: Times }) {
  const [shown, setShown] = useState(AT_ONCE)
  const { now, reload } = useLoad(
    `video/${id}/comments`,
    async (signal) => (await get<Item<Comment[]>>(`/api/video/${id}/comment/`, {}, signal)).data,
  )
  const { state, value, failure } = now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={reload} />
  if (state === 'loading') return <Box height="120px" radius="8px" />
  return (
    <>
      <ol>
        {value.slice(0, shown).map((comment) => (
          <Thread key={comment.comment_id} comment={comment} times={times} depth={0} />
        ))}
      </ol>
      {value.length > shown && <Button onClick={() => setShown(shown + AT_ONCE * 2)}>{t('video.moreComments')}</Button>}
    </>
  )
}

function Thread({ comment, times, depth }: { comment: Comment; times: Times; depth: number }) {
  const replies = comment.comment_replies
  const [isOpen, setOpen] = useState(false)
  return (
    <li class="comment">
      <p class="comment-head">
        <strong dir="auto">{comment.comment_author}</strong>
        {comment.comment_author_is_uploader && <span class="tag">{t('video.author')}</span>}
        {comment.comment_timestamp > 0 && (
          <span title={toMoment(comment.comment_timestamp)}>{toAge(comment.comment_timestamp)}</span>
        )}
      </p>
      <p dir="auto">
        <HostileText text={comment.comment_text} times={times} />
      </p>
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
        {replies.length > 0 && (
          <button type="button" class="link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t('video.replies', { count: replies.length })}
          </button>
        )}
      </p>
      {isOpen && replies.length > 0 && (
        <ol class={depth < DEEPEST ? 'replies' : ''}>
          {replies.map((reply) => (
            <Thread key={reply.comment_id} comment={reply} times={times} depth={depth + 1} />
          ))}
        </ol>
      )}
    </li>
  )
}
