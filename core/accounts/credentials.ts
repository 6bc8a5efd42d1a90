/**
 * The port to the plugin that keeps accounts: what core asks about the credentials of a request, and which plugin
 * answers.
 */
import type { Clock } from '../clock.ts'
import { StartError } from '../error.ts'
import type { View } from '../index/view.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { Scope } from './scope.ts'
import type { Signing } from './signing.ts'

/** An active account, and what it may do at the moment. */
export interface Identity {
  id: number
  username: string
  isAdmin: boolean
  mayDownload: boolean
  /** The part of the archive that it is shown. Left out: all of it. */
  view?: View
  /** It would be an admin if it had the second factor that admins need. */
  needsSecondFactor?: true
}

/** What plugins are handed as `app.accounts`: the plugin that brings `credentials` declares its methods. */
export interface Accounts {}

export interface FirstAccount {
  isNew: boolean
  username: string
  /** The generated password, unless one was given. */
  password?: string
  /** The file that holds it until somebody has signed in. */
  passwordFile?: string
}

export interface Credentials {
  accounts: Accounts
  /** Adds the first admin, with a token, to a new installation. Does nothing once there are accounts. */
  ensureFirst(account: { username: string; password: string | null }): Promise<FirstAccount>
  /** An account's own token, or one of its access tokens, which have a scope. */
  byToken(token: string): { account: Identity; scope?: Scope } | undefined
  /** @param cookie  the value of the cookie `sessionid` */
  bySession(cookie: string): { account: Identity; session: { hash: string; csrfToken: string } } | undefined
  /** @param signed  what `app.accounts.link` has made for this path */
  byLink(path: string, signed: string): Identity | undefined
  /** How many records of a list this account wants on a page; 0: as many as the installation says. */
  pageSizeOf(accountId: number): number
  /** The listener is called after each change that may shut somebody out. */
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
  /** Called once the ledger is open, before any plugin has services or is set up. */
  open(parts: CredentialsParts): Credentials
}

interface Bringer {
  name: string
  credentials?: CredentialsDefinition
}
type Keeper<Plugin extends Bringer> = Plugin & Required<Pick<Bringer, 'credentials'>>

/**
 * The plugin that keeps the accounts.
 * @param off  plugins that are left out
 * @throws StartError  there is none
 */
export function chooseKeeper<Plugin extends Bringer>(
  plugins: readonly Plugin[],
  off: readonly Plugin[],
): Keeper<Plugin> {
  const isKeeper = (plugin: Plugin): plugin is Keeper<Plugin> => plugin.credentials !== undefined
  const chosen = plugins.find(isKeeper)
  if (chosen) return chosen
  const ways = off.filter(isKeeper).map(({ name }) => `take ${name} out of AV_PLUGINS_OFF`)
  throw new StartError(
    `No plugin keeps accounts, so nobody could sign in: ${ways.join(', or ') || 'add one that brings credentials'}`,
  )
}
