/**
 * Preferences for the daily snapshot and for the space of snapshots: keys of the `application` section of /api/config/.
 */
import { Type } from 'archivolt'

export const application = {
  enable_snapshot: Type.Boolean({ default: true, title: 'Take a snapshot every day', 'x-group': 'snapshots' }),
  snapshot_room: Type.Union([Type.Integer({ minimum: 1, maximum: 100_000 }), Type.Literal(false)], {
    default: false,
    title: 'Space for snapshots',
    description:
      'The oldest are removed first; the newest always stays. Empty: ten times the newest, and at most a tenth of the disk.',
    'x-unit': 'GB',
    'x-group': 'snapshots',
  }),
}

declare module 'archivolt' {
  interface ApplicationPreferences {
    enable_snapshot: boolean
    snapshot_room: number | false
  }
  interface PreferenceValues {
    application: ApplicationPreferences
  }
}
