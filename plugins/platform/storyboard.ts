/** Chooses the platform's seek previews to use, from yt-dlp's information; incomplete ones are ignored. */
import { rows, url } from './metadata.ts'
import type { Storyboard } from './types.ts'

/** The worker's limit: a film with more sheets also has coarser previews. */
const MOST_SHEETS = 60
const MOST_ACROSS = 20
/** Pixels of a picture's longer side: smaller ones show too little, larger ones take too many bytes. */
const [SMALLEST, LARGEST] = [64, 400]
const WANTED = 160

const whole = (value: unknown, most: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= most ? value : 0

function toStoryboard(raw: Record<string, unknown>): Storyboard | undefined {
  const [width, height] = [whole(raw.width, LARGEST), whole(raw.height, LARGEST)]
  const [columns, down] = [whole(raw.columns, MOST_ACROSS), whole(raw.rows, MOST_ACROSS)]
  const given = Array.isArray(raw.sheets) ? raw.sheets : []
  const sheets = given.map(url).filter(Boolean)
  const interval = typeof raw.fps === 'number' && raw.fps > 0 ? Math.round(1000 / raw.fps) / 1000 : 0
  const isWhole = sheets.length === given.length && sheets.length > 0 && sheets.length <= MOST_SHEETS
  if (!(width && height && columns && down && isWhole && interval > 0 && interval <= 3600)) return undefined
  return Math.max(width, height) < SMALLEST ? undefined : { interval, width, height, columns, rows: down, sheets }
}

/**
 * @param raw  the offered previews, from the worker
 * @returns the one closest to the size of our own previews
 */
export function storyboardOf(raw: unknown): Storyboard | undefined {
  const far = ({ width, height }: Storyboard): number => Math.abs(Math.max(width, height) - WANTED)
  return rows(raw)
    .flatMap((one) => toStoryboard(one) ?? [])
    .toSorted((one, other) => far(one) - far(other))[0]
}
