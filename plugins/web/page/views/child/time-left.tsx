/**
 * Shows how long a child may still play today. At the end the player stops, and an admin's PIN gives five more minutes.
 */
import { signal } from '@preact/signals'
import { Clock, MoonStar } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { match, navigate, route } from '../../browser/router.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PinField } from '../../parts/pin-field.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import type { OwnScreenTime } from '../../server/records.ts'
import { countTurns } from '../../stores/turns.ts'
import { t } from '../../texts/lookup.ts'

const PLAYING_MS = 15_000
const RESTING_MS = 60_000
const WARNED_SECONDS = 5 * 60

const players = (): HTMLVideoElement[] => [...document.querySelectorAll('video')]
const playing = (): HTMLVideoElement | undefined => players().find(({ paused }) => !paused)
const isWatching = (): boolean => match('/video/:videoId/', route.value.path) !== undefined

const own = signal<OwnScreenTime | undefined>(undefined)
/** The number of times that a parent has given more minutes. A request that began before is outdated. */
let grants = 0
/** The player that was playing when the time ended. */
const stopped = signal<HTMLVideoElement | undefined>(undefined)

function stopPlayers(): void {
  const now = playing()
  for (const one of players()) one.pause()
  if (document.pictureInPictureElement) void document.exitPictureInPicture()
  if (now) stopped.value = now
}

export function TimeLeft() {
  const time = own.value
  const minutes = Math.ceil((time?.left ?? 0) / 60)

  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isEnded = false
    const begin = countTurns()
    const read = async (): Promise<void> => {
      clearTimeout(timer)
      const [isNewest, before] = [begin(), grants]
      const now = await get<OwnScreenTime>('/api/screentime/own/').catch(() => undefined) // the next one may come
      if (isEnded || !isNewest()) return
      if (before !== grants) return read()
      if (now) own.value = now
      if (now?.left === 0) stopPlayers()
      const soon = Math.max(1, now?.left ?? RESTING_MS) * 1000
      const isResting = !playing() && !isWatching()
      if (now?.minutes !== null) timer = setTimeout(read, isResting ? RESTING_MS : Math.min(PLAYING_MS, soon))
    }
    void read()
    document.addEventListener('play', read, true)
    return () => {
      isEnded = true
      clearTimeout(timer)
      document.removeEventListener('play', read, true)
      own.value = undefined
    }
  }, [])

  const isLittle = time !== undefined && time.left !== null && time.left > 0 && time.left <= WARNED_SECONDS
  useEffect(() => {
    if (isLittle) say(t('screentime.soon', { count: minutes }))
  }, [isLittle])

  if (!time || time.left === null) return null
  return (
    <span class="pill time-left" title={t('screentime.left', { count: minutes })}>
      <Icon node={Clock} />
      <span aria-hidden="true">{t('screentime.minutes', { count: minutes })}</span>
      <span class="unseen">{t('screentime.left', { count: minutes })}</span>
    </span>
  )
}

/** Shown in the view of a video, or if a player was stopped. */
export function TimeOver() {
  if (own.value?.left !== 0 || !(stopped.value || isWatching())) return null
  const goOn = (now: OwnScreenTime) => {
    const player = stopped.value
    stopped.value = undefined
    grants++
    own.value = now
    // The document is reloaded, because the server has refused the film meanwhile.
    if (document.querySelector('.player-failure')) return location.reload()
    void player?.play().catch(() => undefined) // the browser requires a gesture: people can press the button
  }
  const close = () => {
    stopped.value = undefined
    if (isWatching()) navigate('/')
  }
  return <Over onMore={goOn} onClose={close} />
}

function Over({ onMore, onClose }: { onMore: (now: OwnScreenTime) => void; onClose: () => void }) {
  const [isAsking, setAsking] = useState(false)
  const [pin, setPin] = useState('')
  const form = useForm({
    pin: { wrong: isAsking && pin === '' && t('form.required'), refused: t('screentime.pin.wrong') },
  })
  const submit = async () => onMore(await post<OwnScreenTime>('/api/screentime/own/', { pin }))
  return (
    <Dialog title={t('screentime.over')} onClose={onClose}>
      <Form form={form} onSubmit={isAsking ? submit : () => setAsking(true)}>
        <div class="time-over">
          <Icon node={MoonStar} size={64} />
          <p>{t('screentime.over.text')}</p>
        </div>
        {form.refusal}
        {isAsking && <PinField label={t('screentime.pin')} value={pin} onInput={setPin} error={form.errors.pin} />}
        <footer>
          <Button kind={isAsking ? 'plain' : 'main'} onClick={onClose}>
            {t('screentime.home')}
          </Button>
          <Button kind={isAsking ? 'main' : 'plain'} type="submit">
            {t('screentime.more')}
          </Button>
        </footer>
      </Form>
    </Dialog>
  )
}
