/** Short notes over the picture: the resumed position, a skipped segment, the next video. */
import { useEffect } from 'preact/hooks'
import { toClock, toSpan } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { useCountdown } from './countdown.ts'
import type { Machine } from './machine.ts'
import { saying } from './plugin-buttons.tsx'
import { categoryName } from './segment-words.ts'
import type { Step } from './step.ts'

const STAYS_MS = 8000

interface NotesProps {
  machine: Machine
  next: Step | undefined
  isAutoplay: boolean
}

export function Notes({ machine, next, isAutoplay }: NotesProps) {
  const { resumedAt, skipped, hushed, silent, hasEnded } = machine
  useEffect(() => {
    if (resumedAt.value === undefined) return
    const timer = setTimeout(() => void (resumedAt.value = undefined), STAYS_MS)
    return () => clearTimeout(timer)
  }, [resumedAt.value])
  useEffect(() => {
    if (!skipped.value) return
    const timer = setTimeout(() => void (skipped.value = undefined), STAYS_MS)
    return () => clearTimeout(timer)
  }, [skipped.value])
  useEffect(() => {
    if (saying.value === undefined) return
    const timer = setTimeout(() => void (saying.value = undefined), STAYS_MS)
    return () => clearTimeout(timer)
  }, [saying.value])
  return (
    <div class="player-notes" role="status">
      {saying.value && <p>{saying.value.text}</p>}
      {hasEnded.value && next && <Next {...next} isAutoplay={isAutoplay} />}
      {silent.value !== undefined && (
        <p>
          {t('player.silent', { name: silent.value })}
          <button type="button" onClick={() => void (silent.value = undefined)}>
            {t('action.close')}
          </button>
        </p>
      )}
      {resumedAt.value !== undefined && (
        <p>
          {t('player.resumed', { time: toClock(resumedAt.value) })}
          <button type="button" onClick={machine.startOver}>
            {t('player.startOver')}
          </button>
        </p>
      )}
      {hushed.value && (
        <p>
          {[t('player.hushed'), categoryName(hushed.value.category)].filter(Boolean).join(' · ')}
          <button type="button" onClick={machine.toggleMute}>
            {t('player.unmute')}
          </button>
        </p>
      )}
      {skipped.value && (
        <p>
          {[
            t('player.skipped', { span: toSpan(skipped.value.to - skipped.value.from) }),
            categoryName(skipped.value.segment.category),
          ]
            .filter(Boolean)
            .join(' · ')}
          <button type="button" onClick={machine.undoSkip}>
            {t('action.undo')}
          </button>
        </p>
      )}
    </div>
  )
}

function Next({ title, go, isAutoplay }: Step & { isAutoplay: boolean }) {
  const { left, isStopped, stop } = useCountdown(isAutoplay, go)
  if (isStopped) return null
  return (
    <p>
      <span class="clip">{isAutoplay ? t('player.nextIn', { count: left, title }) : t('player.next', { title })}</span>
      <button type="button" onClick={go}>
        {t('player.playNow')}
      </button>
      <button type="button" onClick={stop}>
        {t('action.cancel')}
      </button>
    </p>
  )
}
