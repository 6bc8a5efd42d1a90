/** How much of a subscription a scan reads: the `subscriptions` section of /api/config/ (appendix B). */
import { type PreferencesOf, Type } from 'archivolt'

/** The number of newest videos of a channel, or entries of a playlist; 0: none. */
const size = (title: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: 50, title, 'x-unit': 'newest', 'x-group': 'scan' })

export const subscriptions = {
  channel_size: size('Videos'),
  live_channel_size: size('Streams'),
  shorts_channel_size: size('Shorts'),
  playlist_size: size('In a playlist'),
  feeds: Type.Boolean({
    default: true,
    title: 'Look for new videos every ten minutes',
    description: 'One small request for each channel; scans find what this misses.',
    'x-group': 'found',
  }),
  auto_start: Type.Boolean({
    default: false,
    title: 'Download new videos right away',
    description: 'Otherwise they wait for the next scheduled download.',
    'x-group': 'found',
  }),
}
type SubscriptionPreferences = PreferencesOf<typeof subscriptions>

/** Copies the size of channels, which playlists used before they had their own. */
export const ownPlaylistSize = {
  number: 4,
  sql: `INSERT OR IGNORE INTO preferences (section, key, value) SELECT section, 'playlist_size', value FROM preferences WHERE section = 'subscriptions' AND key = 'channel_size'`,
}

declare module 'archivolt' {
  interface PreferenceValues {
    subscriptions: SubscriptionPreferences
  }
}
