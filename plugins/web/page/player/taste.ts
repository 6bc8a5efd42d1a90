/** How loud, how fast, which subtitles: kept in this browser, since another room has other loudspeakers. */

interface Taste {
  volume: number
  isMuted: boolean
  speed: number
  /** Language; empty: none. */
  subtitle: string
  isTheatre: boolean
}

const KEY = 'av_player'
const NORMAL: Taste = { volume: 1, isMuted: false, speed: 1, subtitle: '', isTheatre: false }

function read(): Taste {
  try {
    return { ...NORMAL, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Taste>) }
  } catch {
    return NORMAL // storage is shut, or not ours
  }
}

export function keepFor(change: Partial<Taste>): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...read(), ...change }))
  } catch {
    return // it holds for this visit
  }
}

const within = (value: unknown, from: number, to: number, normal: number): number =>
  typeof value === 'number' && value >= from && value <= to ? value : normal

export const kept = {
  volume: (): number => within(read().volume, 0, 1, 1),
  isMuted: (): boolean => read().isMuted === true,
  speed: (): number => within(read().speed, 0.25, 3, 1),
  subtitle: (): string => String(read().subtitle),
  isTheatre: (): boolean => read().isTheatre === true,
}
