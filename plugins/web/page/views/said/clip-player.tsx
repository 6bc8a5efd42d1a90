/**
 * Plays one clip of a film, and requests the next clip at its end. The element is the same for all clips, so that
 * playback and fullscreen continue. The account's position in the video does not change.
 */
import { Maximize, Pause, Play, SkipBack, SkipForward } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useKeys } from '../../browser/keys.ts'
import { HERE } from '../../browser/offline-names.ts'
import { IconButton } from '../../parts/button.tsx'
import { foreseen } from '../../player/codecs.ts'
import { corner } from '../../player/corner.ts'
import { storedOptions } from '../../player/player-options.ts'
import { enterFullscreen } from '../../player/screen.ts'
import { get } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Item, SaidClip, Video } from '../../server/records.ts'
import { filmHere } from '../../stores/offline-videos.ts'
import { shownTitle } from '../../stores/titles.ts'
import { toClock } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Marked } from '../search/marked.tsx'

interface ClipPlayerProps {
  clip: SaidClip
  onNext: (() => void) | undefined
  onPrevious: (() => void) | undefined
  /** Called if this browser cannot play the film, or the film is missing. */
  onBroken: () => void
}

export function ClipPlayer({ clip, onNext, onPrevious, onBroken }: ClipPlayerProps) {
  // A reply to a reload has new objects for the same clips.
  const id = `${clip.platform_id} ${clip.start}`
  const frame = useRef<HTMLDivElement>(null)
  const element = useRef<HTMLVideoElement>(null)
  const [isPlaying, setPlaying] = useState(false)
  const [seconds, setSeconds] = useState(0)
  const [failed, setFailed] = useState<string>()
  /**
   * The clip that is playing; undefined while the element seeks, because it still reports times of the previous clip.
   */
  const current = useRef<string>(undefined)
  const giveUp = () => {
    setFailed(id)
    onBroken()
    onNext?.()
  }
  useEffect(() => {
    const ending = new AbortController()
    current.current = undefined
    setSeconds(0)
    begin(element.current!, clip, ending.signal).then(
      () => void (current.current = id),
      () => ending.signal.aborted || giveUp(),
    )
    return () => ending.abort()
  }, [id])
  useEffect(() => {
    // Only one video plays at a time.
    if (corner.peek()?.isPlaying.peek()) corner.peek()!.toggle()
    element.current!.volume = storedOptions.volume()
    element.current!.muted = storedOptions.isMuted()
  }, [])

  const onTime = () => {
    const { currentTime } = element.current!
    if (current.current !== id) return
    setSeconds(Math.max(0, currentTime - clip.start))
    if (currentTime >= clip.end) end()
  }
  const end = () => {
    if (current.current !== id) return
    if (onNext) return onNext()
    element.current!.pause()
  }
  const toggle = () => {
    const film = element.current!
    if (!film.paused) return film.pause()
    if (film.currentTime >= clip.end) film.currentTime = clip.start
    void film.play().catch(() => undefined) // a broken film is reported by `onError`
  }
  const toggleFullscreen = () => {
    if (document.fullscreenElement) void document.exitFullscreen()
    else enterFullscreen(frame.current, element.current)
  }
  useKeys({ k: toggle, f: toggleFullscreen, N: () => onNext?.(), P: () => onPrevious?.() })
  const length = clip.end - clip.start
  const title = shownTitle(clip.platform_id, clip.title)
  return (
    <section class="said-player" aria-label={t('clips.player', { title })} ref={frame}>
      <video
        ref={element}
        playsInline
        preload="auto"
        poster={under(clip.vid_thumb_url)}
        onClick={toggle}
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onTimeUpdate={onTime}
        onEnded={end}
        onError={() => current.current === id && giveUp()}
      />
      <progress value={Math.min(seconds, length)} max={length} aria-label={t('clips.position')} />
      <div class="said-controls">
        <IconButton
          icon={SkipBack}
          label={t('clips.previous')}
          aria-disabled={!onPrevious}
          onClick={() => onPrevious?.()}
        />
        <IconButton
          icon={isPlaying ? Pause : Play}
          label={t(isPlaying ? 'player.pause' : 'player.play')}
          onClick={toggle}
        />
        <IconButton icon={SkipForward} label={t('clips.next')} aria-disabled={!onNext} onClick={() => onNext?.()} />
        <a class="said-title" dir="auto" href={under(`/video/${clip.platform_id}/?t=${Math.floor(clip.start)}`)}>
          {title} · {toClock(clip.start)}
        </a>
        <IconButton icon={Maximize} label={t('player.full')} onClick={toggleFullscreen} />
      </div>
      <p class="said-now" dir="auto">
        <Marked line={clip.lines.join(' … ')} />
      </p>
      {failed === id && (
        <p class="error" role="alert">
          {t('clips.broken')}
        </p>
      )}
    </section>
  )
}

/** @throws Error  this browser cannot play the film; Failure  the film is missing */
async function begin(film: HTMLVideoElement, { platform_id: id, start }: SaidClip, signal: AbortSignal): Promise<void> {
  const { data } = await get<Item<Video>>(`/api/video/${id}/`, {}, signal)
  const source = await sourceOf(data)
  signal.throwIfAborted()
  if (film.getAttribute('src') !== source || film.error) film.src = source
  if (film.readyState < film.HAVE_METADATA) await heard(film, 'loadedmetadata', signal)
  if (film.currentTime !== start) {
    const sought = heard(film, 'seeked', signal)
    film.currentTime = start
    await sought
  }
  // Some browsers play no sound without a click; then people press the button.
  await film.play().catch(() => undefined)
  signal.throwIfAborted()
}

async function sourceOf({ platform_id: id, media_url: film, copy_url: copy, streams }: Video): Promise<string> {
  const here = filmHere(id)
  if (here !== undefined) return under(here) + HERE
  const isUnknown = (await foreseen(film, streams)) !== undefined
  if (isUnknown && copy === undefined) throw new Error('unplayable')
  return under(isUnknown ? copy! : film)
}

const heard = (film: HTMLVideoElement, event: 'loadedmetadata' | 'seeked', signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const options = { once: true, signal }
    film.addEventListener(event, () => resolve(), options)
    film.addEventListener('error', () => reject(film.error), options)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
