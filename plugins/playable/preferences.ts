/** Preferences for copies and seek previews: the `playback` section of /api/config/ (contract 9.19, 9.20). */
import { type PreferencesOf, Type } from 'archivolt'

export const playback = {
  copy_room: Type.Integer({
    minimum: 1,
    maximum: 10_000,
    default: 20,
    title: 'Space for converted copies',
    description: 'For videos your browser can’t play. The oldest copies are removed first.',
    'x-unit': 'GB',
    'x-group': 'watching',
  }),
  seek_previews: Type.Boolean({
    default: true,
    title: 'Seek previews',
    description:
      'Small pictures while you move along the bar. Downloaded from YouTube if available, otherwise made after a video is first played, as soon as nothing else is running. About 1 MB per video, 2 GB at most.',
    'x-group': 'watching',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    playback: PreferencesOf<typeof playback>
  }
}
