/**
 * What the player does and knows: the video element's state as signals, its place kept on the server, segments skipped.
 */
import { batch, computed, signal } from '@preact/signals'
import { HERE } from '../browser/kept-names.ts'
import { ask, post } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Segment, Video } from '../server/records.ts'
import { filmHere } from '../stores/on-device.ts'
import { unsentPlace } from '../stores/unsent.ts'
import { foreseen, unheard } from './codecs.ts'
import { type Line, readLines } from './lines.ts'
import { openPlace } from './place.ts'
import { keepOptions, keptOptions } from './player-options.ts'
import { openPreviews } from './previews.ts'

/** What fills the screen: what stands around a player, which is another one for another video. */
export const FULL_FRAME = 'full-frame'

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const
const SUBTITLE_SIZES = [0.75, 1, 1.25, 1.5, 2, 2.5] as const

/** So many steps on from where one is, within what there is. */
function stepped(all: readonly number[], now: number, steps: number): number {
  const at = all.findIndex((one) => one >= now)
  return all[Math.max(0, Math.min(all.length - 1, at + steps))]!
}

/** Closer to an end than this, or than a twentieth, a place is not worth going back to. */
const EDGE_S = 5
const FRAME_S = 1 / 30
/** After a jump by a key the picture of the place stays so long. */
const POINTED_MS = 1500
/** A film that has played so long without a single picture shows none. */
const BLIND_S = 2

export type PlayerFailure = 'format' | 'picture' | 'missing' | 'away' | 'connection'

export interface Skip {
  from: number
  to: number
  segment: Segment
}

export type Machine = ReturnType<typeof openMachine>

export function openMachine(video: Video, startAt: number | undefined) {
  const isPlaying = signal(false)
  const isWaiting = signal(false)
  const hasEnded = signal(false)
  const position = signal(0)
  const duration = signal(video.player.duration)
  const chapters = video.chapters ?? []
  /** Number of the one that plays; −1: none. */
  const chapter = computed(() => chapters.findLastIndex(({ start }) => start <= position.value))
  const buffered = signal(0)
  const previews = openPreviews(video.platform_id)
  /** Seconds: where somebody points on the bar, or has just jumped to. */
  const pointed = signal<number | undefined>(undefined)
  let pointing: ReturnType<typeof setTimeout> | undefined
  const volume = signal(keptOptions.volume())
  const isMuted = signal(keptOptions.isMuted())
  const speed = signal(keptOptions.speed())
  /** Number of the chosen track; −1: none. */
  const subtitle = signal(-1)
  const subtitleSize = signal(keptOptions.subtitleSize())
  const hasSubtitleBackground = signal(keptOptions.hasSubtitleBackground())
  const isFull = signal(false)
  const isPip = signal(false)
  const isLooping = signal(false)
  const failure = signal<PlayerFailure | undefined>(undefined)
  /** Kept in this browser. */
  const here = filmHere(video.platform_id)
  /** What plays: the film, or a copy of it. */
  let source = here ?? video.media_url
  const address = (): string => under(source) + (source === here ? HERE : '')
  /** The sound alone is wanted, where the picture cannot be shown. */
  let isListening = false
  let blindFrom: number | undefined
  /** Format of a sound that this browser does not know. */
  const silent = signal<string | undefined>(undefined)
  /** Where it went on, for a while. */
  const resumedAt = signal<number | undefined>(undefined)
  const skipped = signal<Skip | undefined>(undefined)
  const segments = video.sponsorblock?.is_enabled
    ? video.sponsorblock.segments.filter(({ actionType, segment }) => actionType === 'skip' && segment.length === 2)
    : []
  /** Gone back into: not skipped again. */
  const wanted = new Set<string>()
  const place = openPlace(video.platform_id)
  /** Televisions and the like are near, which the browser can send the film to. */
  const isCastable = signal(false)
  let element: HTMLVideoElement | undefined
  let box: HTMLElement | undefined
  let begun = false

  /** Before it is fetched: what this browser says that it cannot play is told, and its copy is played where there is one. */
  async function foresee(): Promise<void> {
    // Where the browser refuses to say, the film is tried.
    const met = await foreseen(source, video.streams).catch(() => undefined)
    if (met === undefined || !element || failure.value !== undefined || source !== video.media_url || isListening)
      return
    element.pause()
    fail(met)
  }

  function begin(): void {
    if (begun || !element || failure.value !== undefined) return
    begun = true
    const { watched } = video.player
    const was = unsentPlace(video.platform_id) ?? video.player.position
    const all = video.player.duration
    const edge = Math.min(EDGE_S, all / 20)
    const isWorthIt = !watched && was > edge && was < all - edge
    const from = startAt ?? (isWorthIt ? was : 0)
    if (from > 0) element.currentTime = Math.min(from, element.duration || from)
    if (startAt === undefined && from > 0) resumedAt.value = from
    void play()
  }

  const play = async (): Promise<void> => {
    try {
      await element?.play()
    } catch {
      isPlaying.value = false // not without a gesture, says the browser: the button is there
    }
  }

  /**
   * Browsers play what they can: of a picture that they do not know the sound goes on, before a black or frozen screen.
   */
  function isBlind(): boolean {
    // Before its metadata nothing is known of a file, such as that of another address.
    if (isListening || element!.readyState === 0 || !video.streams.some(({ type }) => type === 'video')) return false
    if (element!.videoWidth === 0) return true
    // Where nobody looks, browsers may leave out the pictures.
    if (document.hidden || !isPlaying.value || element!.getVideoPlaybackQuality().totalVideoFrames > 0)
      return ((blindFrom = undefined), false)
    blindFrom ??= element!.currentTime
    return element!.currentTime - blindFrom > BLIND_S
  }

  /** Where there is a copy that plays, nobody has to hear of it. */
  function fail(met: PlayerFailure): void {
    const isUnknown = met === 'format' || met === 'picture'
    if (isUnknown && video.copy_url !== undefined && source !== video.copy_url) playCopy(video.copy_url)
    else failure.value = met
  }

  function playCopy(url: string): void {
    const at = position.value
    source = url
    failure.value = undefined
    silent.value = undefined
    blindFrom = undefined
    if (!element) return
    element.src = address()
    if (begun) element.currentTime = at
    if (begun) void play()
  }

  /** From another address, from where it is. */
  function playFrom(url: string): void {
    if (!element) return
    const at = element.currentTime
    const isOn = !element.paused
    element.src = url
    element.currentTime = at
    if (isOn) void play()
  }
  const onDisconnect = () => playFrom(address())

  /**
   * The browser asks which device. Such have no cookie: the film comes to them by an address that holds some hours.
   * @throws Failure  the server gives no such address
   */
  async function cast(): Promise<void> {
    const { url } = await post<{ url: string }>(`/api/video/${video.platform_id}/link/`)
    playFrom(under(url))
    await element?.remote.prompt().catch(() => playFrom(address())) // thought better of it
  }

  function stopIfBlind(): boolean {
    if (!isBlind()) return false
    element!.pause()
    fail('picture')
    return true
  }

  let hasPlayed = false
  function onPlay(): void {
    batch(() => ((isPlaying.value = true), (hasEnded.value = false)))
    if (!hasPlayed) previews.want()
    hasPlayed = true
  }

  function onMetadata(): void {
    duration.value = element!.duration || duration.value
    if (stopIfBlind()) return
    if (source === video.media_url) silent.value = unheard(video.streams)
    begin()
  }

  function onTime(): void {
    const now = element!.currentTime
    position.value = now
    if (stopIfBlind()) return
    if (isPlaying.value) {
      place.at(now)
      skipAt(now)
    }
  }

  function skipAt(now: number): void {
    const met = segments.find(({ UUID, segment: [from, to] }) => !wanted.has(UUID) && now >= from! && now < to! - 0.3)
    if (!met) return
    const to = Math.min(met.segment[1]!, element!.duration)
    element!.currentTime = to
    skipped.value = { from: met.segment[0]!, to, segment: met }
  }

  /** The element does not tell a file that is gone from one it cannot play. */
  async function why(): Promise<PlayerFailure> {
    if (element?.error?.code === MediaError.MEDIA_ERR_NETWORK) return 'connection'
    try {
      const { ok, status } = await fetch(under(source), { method: 'HEAD' })
      return ok ? 'format' : status === 404 ? 'missing' : status === 503 && video.place ? 'away' : 'connection'
    } catch {
      return 'connection'
    }
  }

  function onBuffer(): void {
    const ranges = element!.buffered
    for (let index = 0; index < ranges.length; index++) {
      if (ranges.start(index) <= element!.currentTime + 1 && ranges.end(index) >= element!.currentTime)
        buffered.value = ranges.end(index)
    }
  }

  function jump(seconds: number): void {
    if (!element) return
    const to = Math.max(0, Math.min(seconds, (element.duration || duration.value) - 0.1))
    // Whoever jumps into a segment wants to see it.
    for (const { UUID, segment } of segments) if (to >= segment[0]! && to < segment[1]!) wanted.add(UUID)
    element.currentTime = to
    position.value = to
    hasEnded.value = false
    place.at(to)
  }

  /** @param forMs  left out: as long as it is pointed at */
  function point(seconds: number | undefined, forMs?: number): void {
    clearTimeout(pointing)
    pointed.value = seconds
    if (seconds === undefined) return
    previews.look()
    if (forMs !== undefined) pointing = setTimeout(() => point(undefined), forMs)
  }

  function move(by: number): void {
    if (!element) return
    jump(element.currentTime + by)
    point(position.peek(), POINTED_MS)
  }

  function showSubtitle(number: number): void {
    if (!element) return
    const tracks = [...element.textTracks]
    for (const [index, track] of tracks.entries()) track.mode = index === number ? 'showing' : 'disabled'
    subtitle.value = number
  }

  return {
    firstAddress: address(),
    isCastable,
    isPlaying,
    isWaiting,
    hasEnded,
    position,
    duration,
    chapters,
    chapter,
    buffered,
    pointed,
    point,
    previewAt: previews.at,
    volume,
    isMuted,
    speed,
    subtitle,
    subtitleSize,
    hasSubtitleBackground,
    isFull,
    isPip,
    isLooping,
    failure,
    silent,
    resumedAt,
    skipped,
    segments,
    jump,
    play,

    /** @returns lets go; the place is saved then */
    attach(video_: HTMLVideoElement, frame: HTMLElement): () => void {
      element = video_
      box = frame
      element.volume = volume.value
      element.muted = isMuted.value
      element.defaultPlaybackRate = element.playbackRate = speed.value
      const handlers: Array<[string, () => void]> = [
        ['loadedmetadata', onMetadata],
        ['play', onPlay],
        ['pause', () => ((isPlaying.value = false), element!.ended || place.save(element!.currentTime))],
        ['timeupdate', onTime],
        ['seeking', onTime],
        ['progress', onBuffer],
        ['waiting', () => void (isWaiting.value = true)],
        ['playing', () => void (isWaiting.value = false)],
        ['canplay', () => void (isWaiting.value = false)],
        ['ended', () => batch(() => (place.end(), (isPlaying.value = false), (hasEnded.value = true)))],
        [
          'volumechange',
          () =>
            batch(
              () => (
                (volume.value = element!.volume),
                (isMuted.value = element!.muted),
                keepOptions({ volume: element!.volume, isMuted: element!.muted })
              ),
            ),
        ],
        ['ratechange', () => ((speed.value = element!.playbackRate), keepOptions({ speed: element!.playbackRate }))],
        ['enterpictureinpicture', () => void (isPip.value = true)],
        ['leavepictureinpicture', () => void (isPip.value = false)],
        ['error', () => void why().then(fail)],
      ]
      for (const [name, handler] of handlers) element.addEventListener(name, handler)
      const onFull = () => void (isFull.value = document.fullscreenElement?.contains(frame) ?? false)
      const onHide = () => void (document.hidden && element && !element.ended && place.save(element.currentTime, true))
      onFull()
      document.addEventListener('fullscreenchange', onFull)
      document.addEventListener('visibilitychange', onHide)
      const language = keptOptions.subtitle()
      const chosen = language ? video.subtitles.findIndex(({ lang }) => lang === language) : -1
      showSubtitle(chosen)
      if (element.readyState >= 1) onMetadata()
      void foresee()
      // Firefox has none, and a browser without such a thing refuses.
      void element.remote?.watchAvailability((isNear) => void (isCastable.value = isNear)).catch(() => undefined)
      element.remote?.addEventListener('disconnect', onDisconnect)
      return () => {
        video_.remote?.removeEventListener('disconnect', onDisconnect)
        document.removeEventListener('fullscreenchange', onFull)
        document.removeEventListener('visibilitychange', onHide)
        for (const [name, handler] of handlers) video_.removeEventListener(name, handler)
        if (begun && !video_.ended) place.save(video_.currentTime, true)
        video_.pause()
        clearTimeout(pointing)
        element = undefined
      }
    },

    cast,
    toggle: () => void (element?.paused ? play() : element?.pause()),
    move,
    frame(count: number): void {
      if (element?.paused) jump(element.currentTime + count * FRAME_S)
    },
    louder(by: number): void {
      if (!element) return
      element.muted = false
      element.volume = Math.max(0, Math.min(1, Math.round((element.volume + by) * 100) / 100))
    },
    setVolume(value: number): void {
      if (!element) return
      element.muted = value === 0
      element.volume = value
    },
    toggleMute: () => void (element && (element.muted = !element.muted)),
    setSpeed: (value: number) => void (element && (element.playbackRate = value)),
    faster(steps: number): void {
      if (element) element.playbackRate = stepped(SPEEDS, speed.value, steps)
    },
    toggleLoop: () => void (element && (element.loop = isLooping.value = !isLooping.value)),
    /** @throws Error  it cannot be read */
    async linesOf(number: number): Promise<Line[]> {
      const track = element?.querySelectorAll('track')[number]
      return track ? readLines(track) : []
    },
    chooseSubtitle(number: number): void {
      showSubtitle(number)
      keepOptions({ subtitle: video.subtitles[number]?.lang ?? '' })
    },
    /** @param steps  1: the next larger size */
    growSubtitles(steps: number): void {
      subtitleSize.value = stepped(SUBTITLE_SIZES, subtitleSize.value, steps)
      keepOptions({ subtitleSize: subtitleSize.value })
    },
    toggleSubtitleBackground: () =>
      keepOptions({ hasSubtitleBackground: (hasSubtitleBackground.value = !hasSubtitleBackground.value) }),
    toggleSubtitles(): void {
      if (video.subtitles.length > 0)
        showSubtitle(
          subtitle.value >= 0
            ? -1
            : Math.max(
                0,
                video.subtitles.findIndex(({ lang }) => lang === keptOptions.subtitle()),
              ),
        )
    },
    toggleFull(): void {
      if (document.fullscreenElement) return void document.exitFullscreen()
      const screen = box?.closest(`.${FULL_FRAME}`) ?? box
      if (screen?.requestFullscreen)
        return void screen.requestFullscreen().catch(() => undefined) // the browser says no: nothing changes
        // Phones that have it for the video alone.
      ;(element as (HTMLVideoElement & { webkitEnterFullscreen?: () => void }) | undefined)?.webkitEnterFullscreen?.()
    },
    togglePip(): void {
      if (document.pictureInPictureElement) void document.exitPictureInPicture()
      else void element?.requestPictureInPicture?.().catch(() => undefined) // as with full screen
    },
    startOver(): void {
      resumedAt.value = undefined
      jump(0)
      // the next save says the same
      void ask('DELETE', `/api/video/${video.platform_id}/progress/`).catch(() => undefined)
    },
    undoSkip(): void {
      const { value } = skipped
      if (!value) return
      wanted.add(value.segment.UUID)
      skipped.value = undefined
      jump(value.from)
    },
    /** Without its picture. */
    listen(): void {
      isListening = true
      failure.value = undefined
      begin()
      void play()
    },
    playCopy,
    again(): void {
      failure.value = undefined
      blindFrom = undefined
      const at = position.value
      element?.load()
      if (element) element.currentTime = at
      void play()
    },
  }
}
