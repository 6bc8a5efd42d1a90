/** The preference whether titles of the community are read: the `dearrow` section of /api/config/ (contract 9.40). */
import { type PreferencesOf, Type } from 'archivolt'

export const dearrow = {
  enabled: Type.Boolean({
    default: false,
    title: 'Titles and thumbnails by viewers',
    description:
      'Uses titles that viewers propose at dearrow.ajay.app (CC BY-NC-SA 4.0). DeArrow is queried by the first digits of a hash, so it does not learn which videos you have. Thumbnails are cut from your own video files. Each account chooses in Settings → Appearance which titles it sees.',
    'x-group': 'watching',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    dearrow: PreferencesOf<typeof dearrow>
  }
}
