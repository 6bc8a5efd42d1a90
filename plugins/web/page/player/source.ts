/** The source of the playback (the film, a playable copy, or audio only) and the reason why nothing plays. */
import { signal } from '@preact/signals'
import { HERE } from '../browser/offline-names.ts'
import { under } from '../server/base.ts'
import { filmHere } from '../stores/offline-videos.ts'
import { foreseen, unheard } from './codecs.ts'
import type { Deck } from './deck.ts'

/** Duration of playback without a video frame after which a film counts as unplayable. */
const BLIND_S = 2

export type PlayerFailure = 'format' | 'picture' | 'missing' | 'away' | 'connection'

export function openSource(deck: Deck) {
  const { video, position, isPlaying } = deck
  /** The film saved offline, if there is one. */
  const here = filmHere(video.platform_id)
  let source = here ?? video.media_url
  const failure = signal<PlayerFailure | undefined>(undefined)
  /** The codec of an audio track that this browser cannot play. */
  const silent = signal<string | undefined>(undefined)
  /** Whether only the audio is wanted, because the picture cannot be shown. */
  let isListening = false
  let blindFrom: number | undefined

  const address = (): string => under(source) + (source === here ? HERE : '')

  /**
   * Whether the browser plays no picture. With an unknown video codec, browsers play the audio over a black or frozen
   * picture.
   */
  function isBlind(element: HTMLVideoElement): boolean {
    // Nothing is known about a file before its metadata is loaded.
    if (isListening || element.readyState === 0 || !video.streams.some(({ type }) => type === 'video')) return false
    if (element.videoWidth === 0) return true
    // Browsers may skip frames of hidden tabs.
    if (document.hidden || !isPlaying.value || element.getVideoPlaybackQuality().totalVideoFrames > 0)
      return ((blindFrom = undefined), false)
    blindFrom ??= element.currentTime
    return element.currentTime - blindFrom > BLIND_S
  }

  /** If a playable copy exists, it is used without a message. */
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
    if (!deck.element) return
    deck.element.src = address()
    if (deck.hasBegun) deck.element.currentTime = at
    if (deck.hasBegun) void deck.play()
  }

  /** Finds out what is wrong: the element reports a missing file and an unplayable one in the same way. */
  async function why(): Promise<PlayerFailure> {
    if (deck.element?.error?.code === MediaError.MEDIA_ERR_NETWORK) return 'connection'
    try {
      const { ok, status } = await fetch(under(source), { method: 'HEAD' })
      return ok ? 'format' : status === 404 ? 'missing' : status === 503 && video.place ? 'away' : 'connection'
    } catch {
      return 'connection'
    }
  }

  /**
   * Before loading, checks whether this browser declares that it cannot play the film: then plays the copy, or reports
   * the failure.
   */
  async function foresee(): Promise<void> {
    // If the browser gives no answer, the film is tried.
    const met = await foreseen(source, video.streams).catch(() => undefined)
    if (met === undefined || !deck.element || failure.value !== undefined) return
    if (source !== video.media_url || isListening) return
    deck.element.pause()
    fail(met)
  }

  deck.handlers['error'] = () => void why().then(fail)
  deck.holds.push(() => void foresee())

  return {
    address,
    failure,
    silent,

    stopIfBlind(element: HTMLVideoElement): boolean {
      if (!isBlind(element)) return false
      element.pause()
      fail('picture')
      return true
    },
    listenForSound: () => void (source === video.media_url && (silent.value = unheard(video.streams))),
    /** Continues with audio only. */
    giveUpPicture(): void {
      isListening = true
      failure.value = undefined
    },

    playCopy,
    again(): void {
      failure.value = undefined
      blindFrom = undefined
      const at = position.value
      deck.element?.load()
      if (deck.element) deck.element.currentTime = at
      void deck.play()
    },
  }
}
