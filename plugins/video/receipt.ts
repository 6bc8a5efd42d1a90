/** The receipt of a download as it is stored and shown, and the quality level that follows from it (contract 5.1). */
import { type Static, Type } from 'archivolt'
import type { DownloadReceipt } from '../platform/types.ts'

const Picture = {
  height: Type.Integer({ description: 'the shorter side: 1080 for 1080p; 0: no picture' }),
  fps: Type.Optional(Type.Integer()),
  hdr: Type.Optional(Type.String({ description: '`HDR10`, `HLG` …; omitted: none' })),
}
const Names = Type.Array(Type.String())

export const QUALITIES = ['best', 'limited', 'degraded'] as const

export const Receipt = Type.Object({
  quality: Type.Enum([...QUALITIES], {
    description:
      '`best`: the best height offered; `limited`: less, because of the settings; ' +
      '`degraded`: worse than possible, for the reasons in the key `degraded` of the video',
  }),
  date: Type.Integer(),
  downloader: Type.String({ description: 'version of yt-dlp' }),
  offered: Type.Object({
    ...Picture,
    video_codecs: Names,
    audio_codecs: Names,
    audio_languages: Names,
    original_language: Type.Optional(Type.String()),
    subtitles: Names,
    clients: Names,
  }),
  got: Type.Object({
    ...Picture,
    video_codec: Type.Optional(Type.String()),
    audio_codec: Type.Optional(Type.String()),
    audio_language: Type.Optional(Type.String()),
    formats: Names,
  }),
  allowed_height: Type.Optional(
    Type.Integer({ description: 'the best offered height within the settings; omitted: a custom format was used' }),
  ),
  warnings: Names,
})
export type Receipt = Static<typeof Receipt>

export const DEGRADED_REASONS = [
  'below_allowed',
  'below_channel',
  'language',
  'challenge',
  'token',
  'protocol',
] as const

export const Degraded = Type.Object({
  reasons: Type.Array(Type.Enum([...DEGRADED_REASONS])),
  since: Type.Integer(),
  tries: Type.Integer({ description: 'how often it was downloaded again' }),
  next_try: Type.Optional(Type.Integer({ description: 'epoch seconds; omitted: no further try' })),
  /** The version of yt-dlp of the last download: a newer one may get a better result. */
  tried_with: Type.String(),
})
export type Degraded = Static<typeof Degraded>
export type DegradedReason = Degraded['reasons'][number]

export const toReceipt = (
  { downloader, offered, got, allowedHeight, warnings }: DownloadReceipt,
  date: number,
  degraded?: Degraded,
): Receipt => ({
  quality: degraded ? 'degraded' : got.height < offered.height ? 'limited' : 'best',
  date,
  downloader,
  offered: {
    ...pictureOf(offered),
    video_codecs: offered.videoCodecs,
    audio_codecs: offered.audioCodecs,
    audio_languages: offered.audioLanguages,
    ...(offered.originalLanguage !== undefined && { original_language: offered.originalLanguage }),
    subtitles: offered.subtitles,
    clients: offered.clients,
  },
  got: {
    ...pictureOf(got),
    ...(got.videoCodec !== undefined && { video_codec: got.videoCodec }),
    ...(got.audioCodec !== undefined && { audio_codec: got.audioCodec }),
    ...(got.audioLanguage !== undefined && { audio_language: got.audioLanguage }),
    formats: got.formats,
  },
  ...(allowedHeight !== undefined && { allowed_height: allowedHeight }),
  warnings,
})

const NO_PICTURE = { fps: null, hdr: null }

/** A patch that also removes keys that only the earlier receipt has. */
export const receiptChange = ({ receipt, degraded }: { receipt?: Receipt; degraded?: Degraded }) => ({
  receipt: receipt
    ? {
        allowed_height: null,
        ...receipt,
        offered: { ...NO_PICTURE, original_language: null, ...receipt.offered },
        got: { ...NO_PICTURE, video_codec: null, audio_codec: null, audio_language: null, ...receipt.got },
      }
    : null,
  degraded: degraded ? { next_try: null, ...degraded } : null,
})

const pictureOf = ({ height, fps, hdr }: Pick<DownloadReceipt['got'], keyof typeof Picture>) => ({
  height,
  ...(fps !== undefined && { fps }),
  ...(hdr !== undefined && { hdr }),
})
