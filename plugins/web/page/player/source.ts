/** What plays: the film, a copy that this browser knows, or the sound alone; and why nothing does. */
import { signal } from '@preact/signals'
import { HERE } from '../browser/offline-names.ts'
import { under } from '../server/base.ts'
import { filmHere } from '../stores/offline-videos.ts'
import { foreseen, unheard } from './codecs.ts'
import type { Deck } from './deck.ts'

/** A film that has played so long without a single picture shows none. */
const BLIND_S = 2

export type PlayerFailure = 'format' | 'picture' | 'missing' | 'away' | 'connection'

export function openSource(deck: Deck) {
  const { video, position, isPlaying } = deck
  /** Saved offline. */
  const here = filmHere(video.platform_id)
  let source = here ?? video.media_url
  const failure = signal<PlayerFailure | undefined>(undefined)
  /** Format of a sound that this browser does not know. */
  const silent = signal<string | undefined>(undefined)
  /** The sound alone is wanted, where the picture cannot be shown. */
  let isListening = false
  let blindFrom: number | undefined

  const address = (): string => under(source) + (source === here ? HERE : '')

  /**
   * Browsers play what they can: of a picture that they do not know the sound goes on, before a black or frozen screen.
   */
  function isBlind(element: HTMLVideoElement): boolean {
    // Before its metadata nothing is known of a file, such as that of another address.
    if (isListening || element.readyState === 0 || !video.streams.some(({ type }) => type === 'video')) return false
    if (element.videoWidth === 0) return true
    // Where nobody looks, browsers may leave out the pictures.
    if (document.hidden || !isPlaying.value || element.getVideoPlaybackQuality().totalVideoFrames > 0)
      return ((blindFrom = undefined), false)
    blindFrom ??= element.currentTime
    return element.currentTime - blindFrom > BLIND_S
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
    if (!deck.element) return
    deck.element.src = address()
    if (deck.hasBegun) deck.element.currentTime = at
    if (deck.hasBegun) void deck.play()
  }

  /** The element does not tell a file that is gone from one it cannot play. */
  async function why(): Promise<PlayerFailure> {
    if (deck.element?.error?.code === MediaError.MEDIA_ERR_NETWORK) return 'connection'
    try {
      const { ok, status } = await fetch(under(source), { method: 'HEAD' })
      return ok ? 'format' : status === 404 ? 'missing' : status === 503 && video.place ? 'away' : 'connection'
    } catch {
      return 'connection'
    }
  }

  /** Before it is fetched: what this browser says that it cannot play is told, and its copy is played where there is one. */
  async function foresee(): Promise<void> {
    // Where the browser refuses to say, the film is tried.
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
    /** Without its picture. */
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
