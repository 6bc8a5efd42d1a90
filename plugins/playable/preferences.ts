/** Preferences for copies and seek previews: the `playback` section of /api/config/ (contract 9.19, 9.20). */
import { type PreferencesOf, Type } from 'archivolt'

export const playback = {
  copy_room: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 20,
    title: 'Space for converted copies',
    description: 'For videos your browser can’t play. The oldest are removed first.',
    'x-unit': 'GB',
    'x-group': 'watching',
  }),
  seek_previews: Type.Boolean({
    default: true,
    title: 'Seek previews',
    description:
      'Small pictures above the bar while you look for a place. They are fetched after a download where YouTube has them, else made after a video is first played, once nothing else is running, and take about 1 MB per video, 2 GB in all.',
    'x-group': 'watching',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    playback: PreferencesOf<typeof playback>
  }
}
