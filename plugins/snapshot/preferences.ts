/** Whether a snapshot is taken every day: a key of the `application` section of /api/config/. */
import { Type } from 'archivolt'

export const application = {
  enable_snapshot: Type.Boolean({ default: true, title: 'Take one every day', 'x-group': 'snapshots' }),
}

declare module 'archivolt' {
  interface ApplicationPreferences {
    enable_snapshot: boolean
  }
  interface PreferenceValues {
    application: ApplicationPreferences
  }
}
