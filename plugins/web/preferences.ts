/** What the page itself remembers for all who use it: the `page` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const page = {
  /** The first choices were made, or put off for good: the page offers them no more. */
  welcomed: Type.Boolean({ default: false }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    page: PreferencesOf<typeof page>
  }
}
