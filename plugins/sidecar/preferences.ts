/** Preferences for sidecars: the `sidecars` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const sidecars = {
  beside_films: Type.Boolean({
    default: true,
    title: 'Write sidecars',
    description:
      'What the archive knows of each video, beside its film: marks and positions too, by the names of the accounts. `archivolt rebuild` makes the archive from them.',
    'x-group': 'sidecars',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    sidecars: PreferencesOf<typeof sidecars>
  }
}
