/** What the page stores for all its users: the section `page` of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const page = {
  /** The first choices were made or declined: the page no longer offers them. */
  welcomed: Type.Boolean({ default: false }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    page: PreferencesOf<typeof page>
  }
}
