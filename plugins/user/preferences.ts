/** What an admin allows people to do on the page: a key of the `application` section of /api/config/. */
import { Type } from 'archivolt'

export const application = { enable_cast: Type.Boolean({ default: false }) }

declare module 'archivolt' {
  /** The section that several plugins bring keys of. */
  interface ApplicationPreferences {
    enable_cast: boolean
  }
  interface PreferenceValues {
    application: ApplicationPreferences
  }
}
