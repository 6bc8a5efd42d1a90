/** The preference whether accounts with a view may ask: the `asks` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const asks = {
  in_search: Type.Boolean({
    default: false,
    title: 'Children may ask for videos',
    description:
      'A search also shows titles of videos that a child may not watch, with a plain picture in place of the thumbnail and a button to ask. You allow or refuse them under Settings → Users.',
    'x-group': 'children',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    asks: PreferencesOf<typeof asks>
  }
}
