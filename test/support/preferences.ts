/** Preferences that several tests set through the API. */

/** The loopback platform needs no pauses and no limits. */
export const UNPACED = {
  downloads: { sleep_interval: 0 },
  platform: { request_pause: 0, subtitle_pause: 0, videos_per_hour: false },
} as const

/** Downloads all texts of a video. */
export const WITH_TEXTS = {
  subtitle: 'en,de',
  subtitle_source: 'user',
  subtitle_index: true,
  comment_max: 'all',
} as const
