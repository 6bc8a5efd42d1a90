/** A wish in words → what yt-dlp is told to take: formats (`-f`), and in which order they are preferred (`-S`). */
import type { QualityWish } from './types.ts'

/** The best picture with the best sound; what they are is for the order to say. */
const BEST = 'bv*+ba/b'
/** Where the platform has it with a picture only, that is fetched too, and left out. */
const SOUND = 'ba/b'

/** What stands first decides; the platform's own order follows. */
export function toFormats({ height, codec, hdr }: QualityWish): { format: string; formatSort: string } {
  const most = height === undefined ? 'res' : `res:${height}`
  const order = {
    // Browsers play AAC everywhere, Opus in an MP4 not.
    best: [...(height === undefined ? [] : [most]), 'aext'],
    // The picture goes before the sound: else 360p that has some would win over what is put together.
    compatible: ['vcodec:h264', most, 'acodec:aac'],
    // Of the same picture the smallest; of the sound the best.
    smallest: [most, 'fps', '+vbr', 'acodec'],
    sound: ['acodec:aac', 'abr', '+res'],
  }
  // The worker ranks the languages of the sound.
  return {
    format: codec === 'sound' ? SOUND : BEST,
    formatSort: ['lang', ...(hdr ? [] : ['hdr:sdr']), ...order[codec]].join(','),
  }
}
