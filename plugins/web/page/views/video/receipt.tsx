/** The quality of the file compared with the available quality, in words. */
import type { Video } from '../../server/records.ts'
import { toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'

/** Renders nothing if the best quality was downloaded, or nothing is known. */
export function ReceiptLine({ video: { receipt, degraded } }: { video: Video }) {
  if (!receipt || receipt.quality === 'best') return null
  // Texts, because 1080p is a name, not a number to format.
  const lines = { got: String(receipt.got.height), offered: String(receipt.offered.height) }
  const isLess = receipt.got.height < receipt.offered.height
  if (!degraded)
    return (
      <p class="hint receipt">
        {receipt.got.height === 0 ? t('video.receipt.sound') : t('video.receipt.limited', lines)}
      </p>
    )
  const next = degraded.next_try
  return (
    <p class="hint receipt degraded">
      {isLess ? t('video.receipt.degraded', lines) : t('video.receipt.perhaps', lines)}{' '}
      {degraded.reasons.map((reason) => t(`video.degraded.${reason}`)).join(' ')}{' '}
      {next === undefined
        ? t('video.degraded.stays', { count: degraded.tries })
        : t('video.degraded.again', { when: toMoment(next) })}
    </p>
  )
}

/** The details of the receipt, which are shown with the facts about the file. */
export function receiptFacts({ receipt }: Video): Array<[string, string]> {
  if (!receipt) return []
  const { offered, got, warnings, downloader } = receipt
  return [
    [
      t('video.receipt.offered'),
      describe(offered, [...offered.video_codecs, ...offered.audio_codecs], offered.audio_languages),
    ],
    [t('video.receipt.got'), describe(got, [got.video_codec, got.audio_codec], [got.audio_language])],
    [t('video.receipt.by'), `yt-dlp ${downloader}`],
    ...(warnings.length > 0 ? [[t('video.receipt.warnings'), warnings.join(' · ')] as [string, string]] : []),
  ]
}

type Receipt = NonNullable<Video['receipt']>

const describe = (
  { height, fps, hdr }: Pick<Receipt['got'], 'height' | 'fps' | 'hdr'>,
  codecs: Array<string | undefined>,
  languages: Array<string | undefined>,
): string =>
  [
    height > 0 ? `${height}p${fps !== undefined && fps > 30 ? fps : ''}` : '',
    hdr ?? '',
    codecs.filter(Boolean).join(', '),
    languages.filter(Boolean).join(', '),
  ]
    .filter(Boolean)
    .join(' · ')
