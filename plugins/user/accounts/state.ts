/** State that the files about accounts (`change.ts`, `sign-in.ts`, …) share: their tables, and everything mutable. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type AccountRecord, type CredentialsParts, DAY_SECONDS, type Identity, isoTime, type Scope } from 'archivolt'
import { type KnownAccessToken, openAccessTokens } from './access-tokens.ts'
import { openDeviceLinks } from './device-links.ts'
import { openDevices } from './devices.ts'
import { openKnownDevices } from './known-devices.ts'
import { openLastingLinks } from './lasting-links.ts'
import { openLoginThrottle } from './login-throttle.ts'
import { openPasswords, type PasswordCost } from './passwords.ts'
import { openUserPictures } from './pictures.ts'
import { openPreferenceRows } from './preference-rows.ts'
import { openSessions, type Session } from './sessions.ts'
import { openTokens } from './tokens.ts'
import { openTotp } from './totp.ts'
import type { AccountRules } from './types.ts'
import { openUserRows, type UserRow } from './user-rows.ts'
import { openViews } from './views.ts'

export type CachedToken = { account: Identity; scope?: Scope; access?: KnownAccessToken }
export type CachedSession = { account: Identity; session: Session }

export type AccountsState = ReturnType<typeof openAccountsState>

export function openAccountsState(parts: CredentialsParts, cost?: PasswordCost) {
  const { ledger, clock, log, dataDir } = parts
  const file = join(dataDir, 'first-password')
  const users = openUserRows(parts)
  /** Defaults, until an admin changes them. */
  const rules: AccountRules = { idleDays: 30, adminsNeedSecondFactor: false }
  return {
    ...{ ledger, clock, log, rules },
    passwords: openPasswords(cost),
    throttle: openLoginThrottle(clock),
    users,
    views: openViews(ledger),
    preferences: openPreferenceRows(ledger),
    pictures: openUserPictures(ledger),
    tokens: openTokens(parts),
    accessTokens: openAccessTokens(parts),
    totp: openTotp(parts),
    sessions: openSessions({ ...parts, idleSeconds: () => rules.idleDays * DAY_SECONDS }),
    links: openDeviceLinks(parts),
    lastingLinks: openLastingLinks({ ...parts, users }),
    devices: openDevices(parts),
    knownDevices: openKnownDevices(parts),
    /** The file with the generated first password, and whether it exists. */
    firstPassword: { file, isThere: existsSync(file) },
    /** Accounts found for requests, by token and by session. Every change clears both caches, after its commit. */
    cache: { byToken: new Map<string, CachedToken>(), bySession: new Map<string, CachedSession>() },
    /** Called after each change. */
    listeners: [] as Array<() => void>,
  }
}

/** Writes a change and makes it visible to requests. */
export async function write<Result>(state: AccountsState, work: () => Result): Promise<Result> {
  const result = await state.ledger.write(work)
  clearCache(state)
  return result
}

/** Clears cached lookups, and makes open streams check their account again. */
export function clearCache({ cache, preferences, listeners }: AccountsState): void {
  cache.byToken.clear()
  cache.bySession.clear()
  preferences.forget()
  for (const listener of listeners) listener()
}

export const recordOf = ({ views, totp, pictures }: AccountsState, row: UserRow): AccountRecord => ({
  id: row.id,
  username: row.username,
  is_staff: row.is_staff === 1,
  is_active: row.is_active === 1,
  may_download: row.is_staff === 1 || row.may_download === 1,
  view: views.parse(row.view),
  has_pin: row.pin !== null,
  has_totp: totp.state(row.id).isOn,
  picture: pictures.version(row.id),
  last_login: row.last_login === null ? null : isoTime(row.last_login),
})

export function activeAccount(state: AccountsState, id: number | undefined): AccountRecord | undefined {
  const row = id === undefined ? undefined : state.users.get(id)
  return row?.is_active ? recordOf(state, row) : undefined
}
