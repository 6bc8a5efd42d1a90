/** Accounts: signing in, tokens and user preferences; and the routes of the installation's preferences. */
import { definePlugin } from 'archivolt'
import { addAccessToken, listAccessTokens, revokeAccessToken } from './access-token-routes.ts'
import { addUser, changeUser, listUsers, removeUser, showUser } from './account-routes.ts'
import { openAccounts } from './accounts/accounts.ts'
import { addAccount, removeTotp, setPassword } from './commands.ts'
import { forgetOnDevice, listOfDevice, signInWithPin } from './device-routes.ts'
import { loginForwarded, showForwarded } from './forwarded-routes.ts'
import { proveSession, showSession } from './own-session.ts'
import { endOtherSessions, endOwnSession, listOwnSessions, seeNewSignIn } from './own-session-routes.ts'
import { warnOfWeak } from './password-rule.ts'
import { changePreferences, describePreferences, showPreferences } from './preference-routes.ts'
import { accounts, application } from './preferences.ts'
import { login, loginWithToken, logout, ping, revokeToken, showToken } from './sign-in-routes.ts'
import { openSignIns, type SignIns } from './sign-ins.ts'
import { beginTotp, disableTotp, enableTotp, showTotp } from './totp-routes.ts'
import { changeOwnPreferences, showOwnPreferences } from './user-preferences.ts'

export default definePlugin({
  name: 'user',
  credentials: { open: openAccounts },
  preferences: { application, accounts },
  envelope: (preferences) => ({ enable_cast: preferences.section('application').enable_cast }),
  hooks: ['session.groups', 'session.shelves', 'session.community'],
  // Without its session, the page shows nothing, not even where a plugin is switched off.
  hookRules: {
    'session.groups': { isSync: true, otherwise: () => [] },
    'session.shelves': { otherwise: () => [] },
    'session.community': { otherwise: () => [] },
  },
  events: ['user.removed', 'view.changed'],
  on: { 'ledger.replaced': ({ accounts }) => accounts.skipLostIds },
  services: ({ accounts }) => ({ signIns: openSignIns(accounts) }),
  commands: [addAccount, setPassword, removeTotp],
  async setup({ settings, preferences, accounts, log }) {
    const setRules = () => {
      const { idle_days: idleDays, admins_need_second_factor: adminsNeedSecondFactor } = preferences.section('accounts')
      accounts.setRules({ idleDays, adminsNeedSecondFactor })
    }
    setRules()
    preferences.watch(setRules)
    if (settings.forwardedUser !== null && settings.trustedProxies.length === 0)
      throw new Error(
        'AV_FORWARDED_USER is set, but AV_TRUSTED_PROXIES is not: anybody could sign in as anybody; set AV_TRUSTED_PROXIES to the address of the proxy',
      )
    await warnOfWeak(settings.password, { accounts, log })
  },
  routes: [
    loginWithToken,
    ping,
    showSession,
    proveSession,
    listOwnSessions,
    endOtherSessions,
    endOwnSession,
    seeNewSignIn,
    login,
    logout,
    showForwarded,
    loginForwarded,
    listOfDevice,
    signInWithPin,
    forgetOnDevice,
    showToken,
    revokeToken,
    showTotp,
    beginTotp,
    enableTotp,
    disableTotp,
    listAccessTokens,
    addAccessToken,
    revokeAccessToken,
    showOwnPreferences,
    changeOwnPreferences,
    showPreferences,
    describePreferences,
    changePreferences,
    listUsers,
    addUser,
    showUser,
    changeUser,
    removeUser,
  ],
})

declare module 'archivolt' {
  interface Services {
    user: {
      /**
       * For plugins that add another way of signing in: opens a session for an account whose identity has been proved,
       * and checks that a proof is recent enough.
       */
      signIns: SignIns
    }
  }
  interface Events {
    /** Emitted when an account was removed. Its id is never used again. */
    'user.removed': { id: number }
    /** Emitted when accounts may now see other parts of the archive: a view has changed, or the members of a group. */
    'view.changed': Record<string, never>
  }
}
