/** A film and a picture to be copied, as `ffmpeg.ts` makes them: tests that only need one need no ffmpeg. */
import { join } from 'node:path'
import { ROOT } from './sources.ts'

/** A second of h264 and aac in mp4, 320 × 180. */
export const FILM_FILE = join(ROOT, 'test/data/film.mp4')

export const PICTURE_FILE = join(ROOT, 'test/data/picture.webp')
