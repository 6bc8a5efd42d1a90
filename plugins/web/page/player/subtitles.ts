/** The choice of the subtitle track, and its size. */
import { signal } from '@preact/signals'
import { type Deck, stepped } from './deck.ts'
import { type Line, readLines } from './lines.ts'
import { storedOptions, storeOptions } from './player-options.ts'

const SIZES = [0.75, 1, 1.25, 1.5, 2, 2.5] as const

const baseOf = (lang: string): string => lang.split('-', 1)[0]!.toLowerCase()

export function openSubtitles(deck: Deck) {
  const { subtitles } = deck.video
  /** Index of the chosen track; −1: none. */
  const subtitle = signal(-1)
  const subtitleSize = signal(storedOptions.subtitleSize())
  const hasSubtitleBackground = signal(storedOptions.hasSubtitleBackground())

  function show(number: number): void {
    if (!deck.element) return
    const tracks = [...deck.element.textTracks]
    for (const [index, track] of tracks.entries()) track.mode = index === number ? 'showing' : 'disabled'
    subtitle.value = number
  }

  /**
   * Index of the track in the language that was chosen last, or in a regional variant of it (`en-US` for `en`); −1:
   * none.
   */
  function remembered(): number {
    const chosen = storedOptions.subtitle()
    const exact = subtitles.findIndex(({ lang }) => lang === chosen)
    return exact >= 0 || chosen === '' ? exact : subtitles.findIndex(({ lang }) => baseOf(lang) === baseOf(chosen))
  }

  deck.holds.push(() => show(remembered()))

  return {
    subtitle,
    subtitleSize,
    hasSubtitleBackground,

    /** @throws Error  the track cannot be read */
    async linesOf(number: number): Promise<Line[]> {
      const track = deck.element?.querySelectorAll('track')[number]
      return track ? readLines(track) : []
    },
    chooseSubtitle(number: number): void {
      show(number)
      storeOptions({ subtitle: subtitles[number]?.lang ?? '' })
    },
    toggleSubtitles(): void {
      if (subtitles.length > 0) show(subtitle.value >= 0 ? -1 : Math.max(0, remembered()))
    },
    /** @param steps  1: the next larger size */
    growSubtitles(steps: number): void {
      subtitleSize.value = stepped(SIZES, subtitleSize.value, steps)
      storeOptions({ subtitleSize: subtitleSize.value })
    },
    toggleSubtitleBackground: () =>
      storeOptions({ hasSubtitleBackground: (hasSubtitleBackground.value = !hasSubtitleBackground.value) }),
  }
}
