/** Volume, speed, subtitles, autoplay: stored in this browser, because the speakers differ from device to device. */

interface PlayerOptions {
  volume: number
  isMuted: boolean
  speed: number
  /** A language; empty: none. */
  subtitle: string
  /** Relative to the normal size. */
  subtitleSize: number
  hasSubtitleBackground: boolean
  isTheatre: boolean
  /** The next video starts by itself. */
  isAutoplay: boolean
}

const KEY = 'av_player'
const NORMAL: PlayerOptions = {
  volume: 1,
  isMuted: false,
  speed: 1,
  subtitle: '',
  subtitleSize: 1,
  hasSubtitleBackground: true,
  isTheatre: false,
  isAutoplay: true,
}

function read(): PlayerOptions {
  try {
    return { ...NORMAL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<PlayerOptions>) }
  } catch {
    return NORMAL // storage is blocked, or contains something else
  }
}

export function storeOptions(change: Partial<PlayerOptions>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...read(), ...change }))
  } catch {
    return // the option applies to this visit only
  }
}

const within = (value: unknown, from: number, to: number, normal: number): number =>
  typeof value === 'number' && value >= from && value <= to ? value : normal

export const storedOptions = {
  volume: (): number => within(read().volume, 0, 1, 1),
  isMuted: (): boolean => read().isMuted === true,
  speed: (): number => within(read().speed, 0.25, 3, 1),
  subtitle: (): string => String(read().subtitle),
  subtitleSize: (): number => within(read().subtitleSize, 0.5, 3, 1),
  hasSubtitleBackground: (): boolean => read().hasSubtitleBackground !== false,
  isTheatre: (): boolean => read().isTheatre === true,
  isAutoplay: (): boolean => read().isAutoplay !== false,
}
