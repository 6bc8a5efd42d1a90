/** Preferences for sidecars: the `sidecars` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const sidecars = {
  beside_films: Type.Boolean({
    default: true,
    title: 'Write sidecars',
    description:
      'Saves everything the archive knows about a video next to its file, including who has watched it and how far. The command “archivolt rebuild” restores the archive from these files.',
    'x-group': 'sidecars',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    sidecars: PreferencesOf<typeof sidecars>
  }
}
