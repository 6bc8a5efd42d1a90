/** Preferences that several tests set by the API. */

/** Nobody is spared at the loopback platform: without pauses, as often as a test wants. */
export const UNPACED = {
  downloads: { sleep_interval: 0 },
  platform: { request_pause: 0, subtitle_pause: 0, videos_per_hour: false },
} as const

/** Of downloads: with all that a video says. */
export const WITH_TEXTS = {
  subtitle: 'en,de',
  subtitle_source: 'user',
  subtitle_index: true,
  comment_max: 'all',
} as const
