/** The port to the plugin that manages accounts: what core asks about the credentials of a request. */
import type { Clock } from '../base/clock.ts'
import type { View } from '../index/view.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import type { Scope } from './scope.ts'
import type { Signing } from './signing.ts'

/** An active account and its current rights. */
export interface Identity {
  id: number
  username: string
  isAdmin: boolean
  mayDownload: boolean
  /** The part of the archive that the account sees. Omitted: everything. */
  view?: View
  /** The account is an admin without the required second factor: so far it has only the rights of a watcher. */
  needsSecondFactor?: true
}

/** The service `app.accounts`: the plugin that brings `credentials` declares its methods. */
export interface Accounts {}

export interface FirstAccount {
  isNew: boolean
  username: string
  /** The generated password; omitted if one was given. */
  password?: string
  /** The file with the password, until somebody has signed in. */
  passwordFile?: string
}

export interface Credentials {
  accounts: Accounts
  /** Adds the first admin, with a token, to a new installation. Does nothing if accounts exist. */
  ensureFirst(account: { username: string; password: string | null }): Promise<FirstAccount>
  /** Accepts an account's own token, or one of its access tokens, which have a scope. */
  byToken(token: string): { account: Identity; scope?: Scope } | undefined
  /** @param cookie  the value of the cookie `sessionid` */
  bySession(cookie: string): { account: Identity; session: { hash: string; csrfToken: string } } | undefined
  /** @param signed  the signature that `app.accounts.link` or `app.accounts.lastingLink` made for this path */
  byLink(path: string, signed: string): Identity | undefined
  /** The page size that the account has chosen; 0: the installation's default. */
  pageSizeOf(accountId: number): number
  /** Calls the listener after each change that may revoke access. */
  watch(listener: () => void): void
}

export interface CredentialsParts {
  ledger: Ledger
  clock: Clock
  log: Log
  dataDir: string
  signing: Signing
}

export interface CredentialsDefinition {
  /** Called once the ledger is open, before any plugin is set up. */
  open(parts: CredentialsParts): Credentials
}

interface Bringer {
  name: string
  credentials?: CredentialsDefinition
}
type AccountsPlugin<Plugin extends Bringer> = Plugin & Required<Pick<Bringer, 'credentials'>>

/** @param off  plugins that are switched off. @throws StartError  no plugin brings `credentials` */
export function chooseAccountsPlugin<Plugin extends Bringer>(
  plugins: readonly Plugin[],
  off: readonly Plugin[],
): AccountsPlugin<Plugin> {
  const isAccountsPlugin = (plugin: Plugin): plugin is AccountsPlugin<Plugin> => plugin.credentials !== undefined
  const chosen = plugins.find(isAccountsPlugin)
  if (chosen) return chosen
  const ways = off.filter(isAccountsPlugin).map(({ name }) => `remove ${name} from AV_PLUGINS_OFF`)
  throw new StartError(
    `No plugin manages accounts, so nobody could sign in: ${ways.join(', or ') || 'add one that brings credentials'}`,
  )
}
