/** Keys of /api/config/ with which admins permit or require something of accounts. */
import { type PreferencesOf, Type } from 'archivolt'

export const application = { enable_cast: Type.Boolean({ default: false }) }

export const accounts = {
  idle_days: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 30,
    title: 'Sign out unused devices after',
    description: 'A device that is used now and then, such as a television, stays signed in.',
    'x-unit': 'days',
    'x-group': 'sign-ins',
  }),
  admins_need_second_factor: Type.Boolean({
    default: false,
    title: 'Admins need an authenticator app',
    description:
      'Until they set one up, admins can only watch. Anyone who signs in with a provider or proxy is not asked, because those have a second factor of their own.',
    'x-group': 'sign-ins',
  }),
}

declare module 'archivolt' {
  /** A section to which several plugins add keys. */
  interface ApplicationPreferences {
    enable_cast: boolean
  }
  interface PreferenceValues {
    application: ApplicationPreferences
    accounts: PreferencesOf<typeof accounts>
  }
}
