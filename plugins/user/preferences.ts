/** What an admin allows people to do on the page, and asks of their sign-ins: keys of /api/config/. */
import { type PreferencesOf, Type } from 'archivolt'

export const application = { enable_cast: Type.Boolean({ default: false }) }

export const accounts = {
  idle_days: Type.Integer({
    minimum: 1,
    maximum: 365,
    default: 30,
    title: 'Sign out where nobody has been for',
    description: 'A device that is used now and then, such as a television, stays signed in.',
    'x-unit': 'days',
    'x-group': 'sign-ins',
  }),
  admins_need_second_factor: Type.Boolean({
    default: false,
    title: 'Admins need an authenticator app',
    description:
      'An admin without one can only watch, and set one up. Who signs in at a provider or a proxy is not asked: it has its own second factor.',
    'x-group': 'sign-ins',
  }),
}

declare module 'archivolt' {
  /** The section that several plugins bring keys of. */
  interface ApplicationPreferences {
    enable_cast: boolean
  }
  interface PreferenceValues {
    application: ApplicationPreferences
    accounts: PreferencesOf<typeof accounts>
  }
}
