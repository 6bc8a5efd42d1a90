/** The options of a video's download: the general preferences, and those of its channel (contract 9.3). */
import type { DownloadPreferences } from 'archivolt'
import type { QualityPreferences } from '../channel/quality.ts'
import type { ChannelOverwrites } from '../channel/schema.ts'
import type { DownloadOptions } from '../platform/types.ts'
import type { App } from './app.ts'

export async function downloadOptions(
  channelId: string,
  folder: string,
  app: App,
  id: string,
): Promise<DownloadOptions> {
  const settings = app.preferences.section('downloads')
  const channel = channelId ? await app.channels.get(channelId) : undefined
  return {
    folder,
    ...formatsOf({ ...channel?.channel_overwrites, ...ownQuality(id, app) }, settings),
    limitSpeedKib: settings.limit_speed || undefined,
    throttledRateKib: settings.throttledratelimit || undefined,
    subtitleLanguages: settings.subtitle || undefined,
    subtitleSource: (settings.subtitle && settings.subtitle_source) || undefined,
    extractorLanguage: settings.extractor_lang || undefined,
    embedMetadata: settings.add_metadata,
    embedThumbnail: settings.add_thumbnail,
  }
}

/**
 * The quality that a plugin wants for this video, which takes precedence over everything else, including a custom
 * format.
 */
function ownQuality(id: string, app: App): ChannelOverwrites {
  const own = app.hook('download.quality').flatMap((ask) => ask(id) ?? [])
  return own.length === 0 ? {} : { ...Object.assign({}, ...own), download_format: undefined }
}

/** The wanted quality: the channel's setting, otherwise the general one. */
function qualityPreferences(own: ChannelOverwrites, all: QualityPreferences): QualityPreferences {
  return {
    ...all,
    ...(Object.fromEntries(Object.entries(own).filter(([key]) => key in all)) as Partial<QualityPreferences>),
  }
}

/**
 * The formats: the channel's settings come before the general ones; on each level, a custom format comes before a
 * quality setting.
 */
function formatsOf(
  own: ChannelOverwrites,
  all: DownloadPreferences,
): Pick<DownloadOptions, 'format' | 'formatSort' | 'quality' | 'insistence'> {
  if (own.download_format !== undefined)
    return { format: own.download_format, formatSort: all.format_sort || undefined }
  const isWorded = Object.keys(own).some((key) => key.startsWith('quality_'))
  if (!isWorded && (all.format || all.format_sort))
    return { format: all.format || undefined, formatSort: all.format_sort || undefined }
  const wish = qualityPreferences(own, all)
  const insistence = {
    below: undefined,
    skip: {},
    wait: { waitDays: wish.quality_wait_days },
  }
  return {
    insistence: insistence[wish.quality_missing],
    quality: {
      codec: wish.quality_codec,
      hdr: wish.quality_hdr,
      ...(wish.quality_height && wish.quality_codec !== 'sound' && { height: wish.quality_height }),
      ...(wish.quality_language && { language: wish.quality_language }),
    },
  }
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked before a video is downloaded: returns its quality, if it differs from its channel's. */
    'download.quality': (id: string) => Partial<QualityPreferences> | undefined
  }
}
