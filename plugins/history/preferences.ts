/** Preferences for videos that the platform no longer has: the `history` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const history = {
  keep_lost: Type.Boolean({
    default: true,
    title: 'Keep videos that exist only here',
    description: 'Rules do not remove them until the platform has them again.',
    'x-group': 'rules',
  }),
  rescue: Type.Boolean({
    default: false,
    title: 'Offer to rescue channels',
    description: 'When a channel loses several videos within a day, the rest of it is offered for download.',
    'x-group': 'rules',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    history: PreferencesOf<typeof history>
  }
}
