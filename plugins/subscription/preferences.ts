/** How much of a subscription is looked at: the `subscriptions` section of /api/config/ (appendix B). */
import { Type } from 'archivolt'

const size = { schema: Type.Integer({ minimum: 0, maximum: 1_000_000 }), default: 50 }

export const subscriptionPreferences = {
  subscriptions: {
    channel_size: size,
    live_channel_size: size,
    shorts_channel_size: size,
    auto_start: { schema: Type.Boolean(), default: false },
  },
}

export interface SubscriptionPreferences {
  /** So many of the newest videos of a channel, or entries of a playlist; 0: none. */
  channel_size: number
  live_channel_size: number
  shorts_channel_size: number
  /** What is found is downloaded at once. */
  auto_start: boolean
}

declare module 'archivolt' {
  interface PreferenceValues {
    subscriptions: SubscriptionPreferences
  }
}
