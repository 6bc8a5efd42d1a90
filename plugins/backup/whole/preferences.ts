/** Preferences of whole backups: the `backups` section of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const backups = {
  passphrase: Type.String({
    default: '',
    maxLength: 200,
    title: 'Passphrase of backups',
    description:
      'Encrypts new backups, which then also contain the secret key, the cookie and the settings. Keep it elsewhere too: without it, nothing can be restored. Empty: not encrypted.',
    'x-secret': 'whole',
    'x-group': 'whole',
  }),
}

declare module 'archivolt' {
  interface PreferenceValues {
    backups: PreferencesOf<typeof backups>
  }
}
