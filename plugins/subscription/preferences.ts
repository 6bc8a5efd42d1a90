/** How much of a subscription is looked at: the `subscriptions` section of /api/config/ (appendix B). */
import { type PreferencesOf, Type } from 'archivolt'

/** So many of the newest videos of a channel, or entries of a playlist; 0: none. */
const size = (title: string) =>
  Type.Integer({ minimum: 0, maximum: 1_000_000, default: 50, title, 'x-unit': 'newest', 'x-group': 'scan' })

export const subscriptions = {
  channel_size: size('Videos'),
  live_channel_size: size('Streams'),
  shorts_channel_size: size('Shorts'),
  auto_start: Type.Boolean({
    default: false,
    title: 'Download it right away',
    description: 'Otherwise it waits in the queue for the next download run.',
    'x-group': 'found',
  }),
}
type SubscriptionPreferences = PreferencesOf<typeof subscriptions>

declare module 'archivolt' {
  interface PreferenceValues {
    subscriptions: SubscriptionPreferences
  }
}
