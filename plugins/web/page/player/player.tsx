/** The player: the browser's media element with our own controls, because skip segments belong on the seek bar. */
import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { under } from '../server/base.ts'
import type { Video } from '../server/records.ts'
import { titledAs } from '../stores/titles.ts'
import { toClock, toLanguage } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { Controls } from './controls.tsx'
import { CornerNext } from './corner-next.tsx'
import { PlayFailure } from './failure.tsx'
import { type Machine, openMachine } from './machine.ts'
import { Notes } from './notes.tsx'
import { usePlayerKeys } from './player-keys.ts'
import { updateMediaSession } from './session.ts'
import type { Step } from './step.ts'

export interface PlayerProps {
  video: Video
  /** The start position from the address, in seconds; undefined: the account's position. */
  startAt: number | undefined
  isTheatre: boolean
  onTheatre: () => void
  next: Step | undefined
  previous: Step | undefined
  /** Whether the next video starts by itself. */
  isAutoplay: boolean
  onEnd: () => void
  /** Called when the film has a playable file again. */
  onFile: () => void
  onMachine: (machine: Machine) => void
  /** The player is in the corner, with neither controls nor most keys. */
  isSmall?: boolean
}

const HIDES_AFTER_MS = 2600
const DOUBLE_TAP_MS = 300

export function Player(props: PlayerProps) {
  const { video, startAt, isTheatre, onTheatre, next, previous, isAutoplay, onEnd, onFile, onMachine } = props
  const { isSmall = false } = props
  const frame = useRef<HTMLDivElement>(null)
  const element = useRef<HTMLVideoElement>(null)
  const machine = useMemo(() => openMachine(video, startAt), [video.platform_id])
  const { isAwake, wake } = useAwake(frame)
  const isHidden = useComputed(() => machine.isPlaying.value && !isAwake.value)

  // Not an effect after the paint: keys pressed until then would be lost.
  useLayoutEffect(() => {
    onMachine(machine)
    return machine.attach(element.current!, frame.current!)
  }, [machine])
  useSignalEffect(() => {
    if (machine.hasEnded.value) onEnd()
  })
  useEffect(() => updateMediaSession(video, { next, previous }), [video, next, previous])
  usePlayerKeys(machine, frame, wake, props)
  const { onTap, onDouble } = useTap(machine, frame, () => {
    if (isHidden.value || !machine.isPlaying.value) wake()
    else isAwake.value = false
  })

  const failure = machine.failure.value
  return (
    <div
      ref={frame}
      class={isHidden.value ? 'player asleep' : 'player'}
      tabIndex={isSmall ? -1 : 0}
      role="group"
      aria-label={`${t('player.label')}: ${titledAs(video).title}`}
      onPointerMove={(event) => event.pointerType === 'mouse' && wake()}
      onFocusIn={wake}
      onPointerLeave={() => void (isAwake.value = false)}
    >
      <Film machine={machine} video={video} element={element} onTap={onTap} onDouble={onDouble} />
      {machine.isWaiting.value && !failure && <span class="player-waiting" aria-hidden="true" />}
      {failure && <PlayFailure kind={failure} video={video} machine={machine} onFile={onFile} />}
      {isSmall ? (
        <CornerNext machine={machine} next={next} isAutoplay={isAutoplay} />
      ) : (
        <Notes machine={machine} next={next} isAutoplay={isAutoplay} />
      )}
      {!failure && !isSmall && (
        <Controls machine={machine} video={video} isTheatre={isTheatre} onTheatre={onTheatre} next={next} />
      )}
      <p class="unseen" aria-live="off">
        {t('player.at', { now: toClock(machine.position.value), all: toClock(machine.duration.value) })}
      </p>
    </div>
  )
}

function Film({
  machine,
  video,
  element,
  onTap,
  onDouble,
}: {
  machine: Machine
  video: Video
  element: RefObject<HTMLVideoElement | null>
  onTap: (event: PointerEvent) => void
  onDouble: () => void
}) {
  return (
    <video
      ref={element}
      src={machine.firstAddress}
      poster={under(titledAs(video).picture)}
      preload="metadata"
      playsInline
      class={machine.hasSubtitleBackground.value ? 'backed' : ''}
      style={{ '--subtitle-size': machine.subtitleSize.value }}
      onPointerUp={onTap}
      onDblClick={onDouble}
    >
      {video.subtitles.map(({ lang, name, media_url, source }) => (
        <track
          key={media_url}
          kind="subtitles"
          src={under(media_url)}
          srclang={lang}
          label={source === 'auto' ? `${toLanguage(lang, name)} (${t('video.source.auto')})` : toLanguage(lang, name)}
        />
      ))}
    </video>
  )
}

/** Hides the controls some seconds after the last input. */
function useAwake(frame: RefObject<HTMLElement | null>) {
  const isAwake = useSignal(true)
  const hides = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(hides.current), [])
  const wake = () => {
    isAwake.value = true
    clearTimeout(hides.current)
    hides.current = setTimeout(() => {
      const isHeld = frame.current?.querySelector('[aria-expanded="true"]')
      if (!isHeld) isAwake.value = false
    }, HIDES_AFTER_MS)
  }
  return { isAwake, wake }
}

/**
 * A click plays or pauses, a double click switches fullscreen, and a double tap at a side seeks.
 * @param touch  the action of a single tap
 */
function useTap(machine: Machine, frame: RefObject<HTMLElement | null>, touch: () => void) {
  const lastTap = useRef({ atMs: 0, x: 0 })
  const isMouse = useRef(false)
  const onTap = (event: PointerEvent): void => {
    if (event.button !== 0) return
    isMouse.current = event.pointerType === 'mouse'
    if (isMouse.current) return machine.toggle()
    const { atMs, x } = lastTap.current
    const isDouble = Date.now() - atMs < DOUBLE_TAP_MS && Math.abs(x - event.clientX) < 60
    lastTap.current = { atMs: Date.now(), x: event.clientX }
    const box = frame.current!.getBoundingClientRect()
    if (isDouble) machine.move(event.clientX < box.left + box.width / 2 ? -10 : 10)
    else touch()
  }
  return { onTap, onDouble: () => isMouse.current && machine.toggleFull() }
}
