/** When a video counts as watched: the `progress` section of /api/config/ (contract 9.1). */
import { type PreferencesOf, Type } from 'archivolt'
import { WHOSE } from './watched-by.ts'

export const progress = {
  autoWatched: Type.Boolean({
    default: true,
    title: 'Mark as watched when finished',
    description: 'Also applies to apps.',
    'x-group': 'watching',
  }),
  watchedBy: Type.Enum(WHOSE, {
    default: 'everyone',
    title: 'Watched by',
    description: 'Only accounts that have watched something count.',
    'x-labels': { anyone: 'Anyone', everyone: 'Everyone', admins: 'All admins' },
    'x-group': 'afterwards',
  }),
}

/**
 * Turns the setting off for existing installations: an update must not mark videos for people who have never used this.
 */
export const offWhereInUse = {
  number: 3,
  sql: `INSERT OR IGNORE INTO preferences (section, key, value) SELECT 'progress', 'autoWatched', 'false' WHERE EXISTS (SELECT 1 FROM users)`,
}

declare module 'archivolt' {
  interface PreferenceValues {
    progress: PreferencesOf<typeof progress>
  }
}
