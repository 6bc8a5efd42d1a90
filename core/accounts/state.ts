/** What the verbs of accounts (change, sign in, look up) share: their tables, and all of it that changes. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, DAY_SECONDS } from '../clock.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { type AccessTokens, type KnownAccessToken, openAccessTokens } from './access-tokens.ts'
import { type DeviceLinks, openDeviceLinks } from './device-links.ts'
import { type Devices, openDevices } from './devices.ts'
import { type KnownDevices, openKnownDevices } from './known-devices.ts'
import { LoginThrottle } from './login-throttle.ts'
import { openPasswords, type PasswordCost, type Passwords } from './passwords.ts'
import { openUserPictures, type UserPictures } from './pictures.ts'
import { openSessions, type Session, type Sessions } from './sessions.ts'
import { openTokens, type Tokens } from './tokens.ts'
import { openTotp, type Totp } from './totp.ts'
import type { AccountRecord, AccountRules, TokenHolder } from './types.ts'
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
  readonly knownDevices: KnownDevices

  /** Until an admin says otherwise. */
  rules: AccountRules

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
  const book: Book = {
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
    sessions: openSessions({ ...parts, idleSeconds: () => book.rules.idleDays * DAY_SECONDS }),
    links: openDeviceLinks(parts),
    devices: openDevices(parts),
    knownDevices: openKnownDevices(parts),
    rules: { idleDays: 30, adminsNeedSecondFactor: false },
    firstPassword: { file, isThere: existsSync(file) },
    kept: { byToken: new Map(), bySession: new Map() },
    listeners: [],
  }
  return book
}

/** A change that requests must see from now on. */
export async function write<Result>(book: Book, work: () => Result): Promise<Result> {
  const result = await book.ledger.write(work)
  forgetKept(book)
  return result
}

/** What requests ask for is read anew, and whoever was let in is looked at again. */
export function forgetKept(book: Book): void {
  book.kept.byToken.clear()
  book.kept.bySession.clear()
  book.preferences.forget()
  for (const listener of book.listeners) listener()
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
