/** Preferences for podcasts: the `podcasts` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const podcasts = {
  sound_room: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 20,
    title: 'Space for podcast audio',
    description: 'Of the newest videos in podcasts. An hour takes about 60 MB.',
    'x-unit': 'GB',
    'x-group': 'watching',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    podcasts: PreferencesOf<typeof podcasts>
  }
}
