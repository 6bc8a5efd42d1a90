/** What the verbs of accounts (change, sign in, look up) share: their tables, and all of it that changes. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, type KnownAccessToken, openAccessTokens } from './access-tokens.ts'
import { type DeviceLinks, openDeviceLinks } from './device-links.ts'
import { type Devices, openDevices } from './devices.ts'
import { LoginThrottle } from './login-throttle.ts'
import { openPasswords, type PasswordCost, type Passwords } from './passwords.ts'
import { openUserPictures, type UserPictures } from './pictures.ts'
import { openSessions, type Session, type Sessions } from './sessions.ts'
import { openTokens, type Tokens } from './tokens.ts'
import { openTotp, type Totp } from './totp.ts'
import type { AccountRecord, TokenHolder } from './types.ts'
import { openUserPreferences, type UserPreferenceRows } from './user-preferences.ts'
import { openUserRows, type UserRow, type UserRows } from './user-rows.ts'
import { openViews, type ViewRows } from './views.ts'

export interface AccountParts {
  ledger: Ledger
  clock: Clock
  log: Log
  dataDir: string
  secretKey: Buffer
  passwordCost?: PasswordCost | undefined
}

export interface Book {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly passwords: Passwords
  readonly throttle: LoginThrottle

  readonly users: UserRows
  readonly views: ViewRows
  readonly preferences: UserPreferenceRows
  readonly pictures: UserPictures
  readonly tokens: Tokens
  readonly accessTokens: AccessTokens
  readonly totp: Totp
  readonly sessions: Sessions
  readonly links: DeviceLinks
  readonly devices: Devices

  /** Where the password lies that the first start has made up. */
  readonly firstPassword: { readonly file: string; isThere: boolean }
  /** What every request asks for. Any change empties all of it, after its commit. */
  readonly kept: {
    readonly byToken: Map<string, KeptHolder>
    readonly bySession: Map<string, { account: AccountRecord; session: Session }>
  }
  /** Told of each change once it holds. */
  readonly listeners: Array<() => void>
}

export type KeptHolder = TokenHolder & { access?: KnownAccessToken }

export function newBook(parts: AccountParts): Book {
  const { ledger, clock, log, dataDir, passwordCost } = parts
  const file = join(dataDir, 'first-password')
  return {
    ...{ ledger, clock, log },
    passwords: openPasswords(passwordCost),
    throttle: new LoginThrottle(clock),
    users: openUserRows(parts),
    views: openViews(ledger),
    preferences: openUserPreferences(ledger),
    pictures: openUserPictures(ledger),
    tokens: openTokens(parts),
    accessTokens: openAccessTokens(parts),
    totp: openTotp(parts),
    sessions: openSessions(parts),
    links: openDeviceLinks(parts),
    devices: openDevices(parts),
    firstPassword: { file, isThere: existsSync(file) },
    kept: { byToken: new Map(), bySession: new Map() },
    listeners: [],
  }
}

/** A change that requests must see from now on. */
export async function write<Result>(book: Book, work: () => Result): Promise<Result> {
  const result = await book.ledger.write(work)
  book.kept.byToken.clear()
  book.kept.bySession.clear()
  book.preferences.forget()
  for (const listener of book.listeners) listener()
  return result
}

export const recordOf = ({ views, totp, pictures }: Book, row: UserRow): AccountRecord => ({
  id: row.id,
  username: row.username,
  is_staff: row.is_staff === 1,
  is_active: row.is_active === 1,
  may_download: row.is_staff === 1 || row.may_download === 1,
  view: views.parse(row.view),
  has_pin: row.pin !== null,
  has_totp: totp.state(row.id).isOn,
  picture: pictures.version(row.id),
  last_login: row.last_login === null ? null : new Date(row.last_login * 1000).toISOString(),
})

export function activeAccount(book: Book, id: number | undefined): AccountRecord | undefined {
  const row = id === undefined ? undefined : book.users.get(id)
  return row?.is_active ? recordOf(book, row) : undefined
}
