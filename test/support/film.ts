/**
 * A prepared film and a prepared picture, as `ffmpeg.ts` makes them, for tests that would not need ffmpeg otherwise.
 */
import { join } from 'node:path'
import { ROOT } from './sources.ts'

/** A second of h264 and aac in mp4, 320 × 180. */
export const FILM_FILE = join(ROOT, 'test/data/film.mp4')

export const PICTURE_FILE = join(ROOT, 'test/data/picture.webp')
