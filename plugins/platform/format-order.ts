/** Converts a quality setting to yt-dlp's formats (`-f`) and their order of preference (`-S`). */
import type { QualityWish } from './types.ts'

/** The best picture with the best sound; the order defines what is best. */
const BEST = 'bv*+ba/b'
/** If sound is available only with a picture, both are fetched and the picture is dropped. */
const SOUND = 'ba/b'

/** The first entries decide; the platform's own order follows. */
export function toFormats({ height, codec, hdr }: QualityWish): { format: string; formatSort: string } {
  const most = height === undefined ? 'res' : `res:${height}`
  const order = {
    // All browsers play AAC, but not all play Opus in an MP4.
    best: [...(height === undefined ? [] : [most]), 'aext'],
    // The picture comes before the sound: otherwise 360p with included sound would win over separate streams.
    compatible: ['vcodec:h264', most, 'acodec:aac'],
    // The smallest of equal pictures, but the best sound.
    smallest: [most, 'fps', '+vbr', 'acodec'],
    sound: ['acodec:aac', 'abr', '+res'],
  }
  // The worker ranks the sound languages.
  return {
    format: codec === 'sound' ? SOUND : BEST,
    formatSort: ['lang', ...(hdr ? [] : ['hdr:sdr']), ...order[codec]].join(','),
  }
}
