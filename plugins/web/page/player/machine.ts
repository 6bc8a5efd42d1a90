/**
 * The player: the media element's state as signals, the position stored on the server, and the parts for source,
 * subtitles, skipping, volume and speed, and screen.
 */
import { batch, computed, signal } from '@preact/signals'
import { ask } from '../server/api.ts'
import type { Video } from '../server/records.ts'
import { unsentPosition } from '../stores/unsent.ts'
import { openCasting } from './casting.ts'
import { Deck } from './deck.ts'
import { openPosition } from './position.ts'
import { openPreviews } from './previews.ts'
import { openScreen } from './screen.ts'
import { openSkips } from './skips.ts'
import { openSource } from './source.ts'
import { openSubtitles } from './subtitles.ts'
import { openDials } from './volume-and-speed.ts'

/**
 * A position is not resumed within this distance of the start or end, or within a twentieth of the duration if that is
 * less.
 */
const EDGE_S = 5
const FRAME_S = 1 / 30
/** How long the preview is shown after seeking by key. */
const POINTED_MS = 1500

export type Machine = ReturnType<typeof openMachine>

export function openMachine(video: Video, startAt: number | undefined) {
  const deck = new Deck(video)
  const { isPlaying, isWaiting, hasEnded, position, duration, buffered } = deck
  /** The resumed position, shown for a while. */
  const resumedAt = signal<number | undefined>(undefined)
  const chapters = video.chapters ?? []
  /** Index of the current chapter; −1: none. */
  const chapter = computed(() => chapters.findLastIndex(({ start }) => start <= position.value))
  const progress = openPosition(video.platform_id)
  const source = openSource(deck)
  const casting = openCasting(deck, source.address)
  const screen = openScreen(deck)
  const subtitles = openSubtitles(deck)
  const skips = openSkips(video)
  const dials = openDials(deck, skips.hear)
  const previews = openPreviews(deck)
  let hasPlayed = false
  /** The start position in seconds; undefined: the account's position. */
  let beginning = startAt

  function begin(): void {
    const { element } = deck
    if (deck.hasBegun || !element || source.failure.value !== undefined) return
    deck.hasBegun = true
    const from = beginning ?? positionBefore(video)
    if (from > 0) element.currentTime = Math.min(from, element.duration || from)
    if (beginning === undefined && from > 0) resumedAt.value = from
    void deck.play()
  }

  function jump(seconds: number): void {
    if (!deck.element) return
    const to = Math.max(0, Math.min(seconds, (deck.element.duration || duration.value) - 0.1))
    skips.wantAt(to)
    if (!deck.hasBegun) beginning = to
    deck.element.currentTime = to
    position.value = to
    hasEnded.value = false
    progress.at(to)
  }

  function onMetadata(): void {
    const element = deck.element!
    // Some files do not contain their duration.
    if (Number.isFinite(element.duration)) duration.value = element.duration
    if (source.stopIfBlind(element)) return
    source.listenForSound()
    begin()
  }

  function onTime(): void {
    const element = deck.element!
    const now = element.currentTime
    position.value = now
    if (source.stopIfBlind(element) || !isPlaying.value) return
    progress.at(now)
    const to = skips.skipFrom(now, element.duration)
    if (to !== undefined) element.currentTime = to
    dials.hush(skips.hushAt(now))
  }

  function onPlay(): void {
    batch(() => ((isPlaying.value = true), (hasEnded.value = false)))
    if (!hasPlayed) previews.wantPreviews()
    hasPlayed = true
  }

  function onPause(): void {
    isPlaying.value = false
    if (!deck.element!.ended) progress.save(deck.element!.currentTime)
  }

  function onEnd(): void {
    progress.end()
    batch(() => ((isPlaying.value = false), (hasEnded.value = true)))
  }

  const handlers = { loadedmetadata: onMetadata, play: onPlay, pause: onPause, ended: onEnd }
  Object.assign(deck.handlers, { ...handlers, timeupdate: onTime, seeking: onTime })
  deck.holds.push((element) => {
    const onHide = () => void (document.hidden && !element.ended && progress.save(element.currentTime, true))
    document.addEventListener('visibilitychange', onHide)
    if (element.readyState >= 1) onMetadata()
    return () => {
      document.removeEventListener('visibilitychange', onHide)
      if (deck.hasBegun && !element.ended) progress.save(element.currentTime, true)
      element.pause()
    }
  })

  return {
    ...source,
    ...casting,
    ...dials,
    ...screen,
    ...subtitles,
    ...skips,
    ...previews,
    firstAddress: source.address(),
    isPlaying,
    isWaiting,
    hasEnded,
    position,
    duration,
    buffered,
    chapters,
    chapter,
    resumedAt,
    /** @returns a function that detaches, and saves the position */
    attach: (element: HTMLVideoElement, frame: HTMLElement) => deck.attach(element, frame),

    play: () => deck.play(),
    toggle: () => void (deck.element?.paused ? deck.play() : deck.element?.pause()),
    jump,
    move(by: number): void {
      if (!deck.element) return
      jump(deck.element.currentTime + by)
      previews.point(position.peek(), POINTED_MS)
    },
    frame(count: number): void {
      if (deck.element?.paused) jump(deck.element.currentTime + count * FRAME_S)
    },
    startOver(): void {
      resumedAt.value = undefined
      jump(0)
      // a failure is harmless, because the next save sends the position
      void ask('DELETE', `/api/video/${video.platform_id}/progress/`).catch(() => undefined)
    },
    undoSkip(): void {
      const from = skips.takeBack()
      if (from !== undefined) jump(from)
    },
    listen(): void {
      source.giveUpPicture()
      begin()
      void deck.play()
    },
  }
}

/** The account's position in seconds; 0 if it is not worth resuming. */
function positionBefore({ platform_id: id, player: { watched, position, duration } }: Video): number {
  const was = unsentPosition(id) ?? position ?? 0
  const edge = Math.min(EDGE_S, duration / 20)
  return !watched && was > edge && was < duration - edge ? was : 0
}
