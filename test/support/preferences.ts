/** Preferences that several tests set by the API. */

/** Of downloads: with all that a video says, and without pauses between two of them. */
export const WITH_TEXTS = {
  subtitle: 'en,de',
  subtitle_source: 'user',
  subtitle_index: true,
  comment_max: 'all',
  sleep_interval: 0,
} as const
