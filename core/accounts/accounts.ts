/** Accounts: users, their passwords, and the look-ups that every request makes. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { clientOf } from '../address.ts'
import type { Clock } from '../clock.ts'
import { errors } from '../error.ts'
import type { View } from '../index/view.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { writeWhole } from '../whole-file.ts'
import {
  type AccessTokenRecord,
  type KnownAccessToken,
  type NewAccessToken,
  openAccessTokens,
} from './access-tokens.ts'
import { type DeviceCookie, openDevices } from './devices.ts'
import { openLinks, type SignedLink } from './links.ts'
import { LoginThrottle } from './login-throttle.ts'
import { openPasswords, type PasswordCost } from './passwords.ts'
import { highestScope, includes, type Scope } from './scope.ts'
import { type NewSession, openSessions, type Session } from './sessions.ts'
import { openTokens } from './tokens.ts'
import { openTotp, type TotpState } from './totp.ts'
import { openUserPreferences, type UserPreferences } from './user-preferences.ts'
import { openViews } from './views.ts'

/** An account as contract B shows it. */
export interface AccountRecord {
  id: number
  username: string
  is_staff: boolean
  is_active: boolean
  /** Of admins always true. */
  may_download: boolean
  /** null: it sees the whole archive. */
  view: View | null
  /** On devices where it has signed in with its password, a PIN does from then on. */
  has_pin: boolean
  /** Its password alone does not sign in: a code of its authenticator app does with it. */
  has_totp: boolean
  last_login: string | null
}

export interface NewAccount {
  username: string
  password: string
  isStaff: boolean
  mayDownload?: boolean
  view?: View | null
}

/** What an admin says of an account. */
export interface AccountRights {
  is_staff?: boolean
  may_download?: boolean
  view?: View | null
}

/**
 * A right password or PIN. Hashing takes long enough for another request to change it: what is done on its strength asks
 * again, in the write that does it.
 */
export interface Proof {
  account: AccountRecord
  /** It is still that of an active account; a PIN on a device that still knows the account. */
  holds(): boolean
}

/** Users, their tokens, sessions and preferences. Passwords are scrypt, run asynchronously, two at once. */
export interface Accounts {
  list(): AccountRecord[]
  get(id: number): AccountRecord | undefined
  /** Whose marks are those of the archive where it can have but one watcher's: the admin who was here first. */
  firstAdmin(): AccountRecord | undefined
  /**
   * @param alongside  done in the same write, with its id
   * @throws conflict: the name is taken; bad_request: rights that go ill together
   */
  create(account: NewAccount, alongside?: (id: number) => void): Promise<AccountRecord>
  /**
   * A changed password ends the account's other sessions, revokes its token and access tokens, and takes it off all
   * devices.
   * @throws not_found, conflict (last active admin), bad_request (the proof no longer holds; rights that go ill together)
   */
  change(
    id: number,
    change: { password?: string; pin?: string | null; totp?: null; is_active?: boolean } & AccountRights,
    by?: { keepSession?: string | undefined; proof?: Proof | undefined },
  ): Promise<AccountRecord>
  /** It is gone: what has been chosen for accounts has it no more. */
  dropFromViews(kind: string, id: string): Promise<void>
  /** And its token, sessions, preferences. @throws not_found, conflict (last active admin) */
  remove(id: number): Promise<void>
  /** The password that the first start made up lies in its file, and nobody has ever signed in. */
  isUnused(): boolean
  /**
   * Right name and password, and where the account has a second factor a right code: each code is taken once. Throttled
   * per (account, address), wrong codes as wrong passwords.
   * @param signal  of the request: once its client has gone, it waits no longer
   * @param code    of the authenticator app, or a recovery code
   * @throws throttled; bad_request: the password is right, and a code is missing; undefined: wrong
   */
  checkPassword(
    username: string,
    password: string,
    address: string,
    signal?: AbortSignal,
    code?: string,
  ): Promise<Proof | undefined>
  /** The user's own password, for a change of it. Same throttle. */
  checkOwnPassword(id: number, password: string, address: string, signal?: AbortSignal): Promise<Proof | undefined>
  /** The user's token, made now if there is none. @throws bad_request: the proof no longer holds */
  token(id: number, proof?: Proof): Promise<string>
  revokeToken(id: number): Promise<void>
  totp(id: number): TotpState
  /** A new secret for an authenticator app. @throws conflict: the account has one; bad_request: the proof no longer holds */
  beginTotp(id: number, proof: Proof): Promise<{ secret: string; uri: string }>
  /**
   * From now on a login asks for a code; all devices forget the account.
   * @returns its recovery codes, which nobody is shown again
   * @throws bad_request: the code is wrong, or nothing was begun
   */
  enableTotp(id: number, code: string): Promise<string[]>
  /** By own password and a code; false: one of them is wrong. Same throttle as logins. @throws throttled */
  disableTotp(
    id: number,
    given: { password: string; code: string },
    from: { address: string; signal?: AbortSignal },
  ): Promise<boolean>
  accessTokens(id: number): AccessTokenRecord[]
  /** With the token, which nobody is shown again. @throws conflict: it has as many as it may; bad_request: its scope */
  addAccessToken(id: number, token: NewAccessToken): Promise<AccessTokenRecord & { token: string }>
  /** @throws not_found */
  revokeAccessToken(id: number, tokenId: number): Promise<void>
  /**
   * A new session: values of the cookies `sessionid` and `csrftoken`. @throws bad_request: the proof no longer holds
   */
  openSession(id: number, isRemembered: boolean, proof?: Proof): Promise<NewSession>
  endSession(session: string): Promise<void>
  /** An address for a device without a cookie, of a route with `signedInQuery`. @param session  its hash, which it outlives not */
  link(path: string, session: string): SignedLink
  /** The accounts that may sign in with their PIN on this device. @param cookies  header of the request */
  onDevice(cookies: string | undefined): AccountRecord[]
  /**
   * From now on its PIN is enough on this device. undefined: it has none.
   * @throws bad_request: the proof no longer holds
   */
  keepOnDevice(id: number, cookies: string | undefined, proof: Proof): Promise<DeviceCookie | undefined>
  forgetOnDevice(id: number, cookies: string | undefined): Promise<void>
  /** Same throttle as passwords. @throws throttled, bad_request: not on this device; undefined: wrong */
  checkPin(
    id: number,
    pin: string,
    from: { cookies: string | undefined; address: string; signal?: AbortSignal },
  ): Promise<Proof | undefined>
  /** What the account has chosen for itself. */
  userPreferences(id: number): UserPreferences
  /** @throws not_found */
  changeUserPreferences(id: number, changes: UserPreferences): Promise<UserPreferences>
}

/** What a request shows for itself → whose it is. Active accounts only. */
export interface Credentials {
  /** Told of each change of accounts, tokens and sessions once it holds: whoever was let in may be so no more. */
  watch(listener: () => void): void
  /** An account's token, or one of its access tokens: these have a scope. */
  byToken(token: string): TokenHolder | undefined
  bySession(cookie: string): { account: AccountRecord; session: Session } | undefined
  /** Of an address that `link` has signed. */
  byLink(path: string, signed: string): AccountRecord | undefined
}

export interface TokenHolder {
  account: AccountRecord
  /** Left out: all that the account may. */
  scope?: Scope
}

export interface FirstAccount {
  isNew: boolean
  username: string
  /** The made-up password and the file that has it, where none was given. */
  password?: string
  passwordFile?: string
}

export interface AccountBook extends Accounts, Credentials {
  /** The first admin of a new installation, with a token. With accounts in place it does nothing. */
  ensureFirst(account: { username: string; password: string | null }): Promise<FirstAccount>
}

interface UserRow {
  id: number
  username: string
  password: string
  is_staff: number
  is_active: number
  may_download: number
  view: string | null
  pin: string | null
  last_login: number | null
}

const FIRST_ID = 1
/** Kept look-ups; past this they are thrown away and read anew. */
const MOST_KEPT = 1000

export function openAccounts(parts: {
  ledger: Ledger
  clock: Clock
  log: Log
  dataDir: string
  secretKey: Buffer
  passwordCost?: PasswordCost | undefined
}): AccountBook {
  const { ledger, clock, log } = parts
  const passwords = openPasswords(parts.passwordCost)
  const tokens = openTokens(parts)
  const accessTokens = openAccessTokens(parts)
  const totp = openTotp(parts)
  const sessions = openSessions(parts)
  const links = openLinks(parts)
  const devices = openDevices(parts)
  const preferences = openUserPreferences(ledger)
  const views = openViews(ledger)
  const throttle = new LoginThrottle(clock)
  const passwordFile = join(parts.dataDir, 'first-password')
  let hasPasswordFile = existsSync(passwordFile)
  const now = () => Math.floor(clock.now() / 1000)

  const selectAll = ledger.sql<UserRow>('SELECT * FROM users ORDER BY id')
  const selectOne = ledger.sql<UserRow>('SELECT * FROM users WHERE id = ?')
  const selectFirstAdmin = ledger.sql<UserRow>('SELECT * FROM users WHERE is_staff = 1 ORDER BY id LIMIT 1')
  const selectNamed = ledger.sql<UserRow>('SELECT * FROM users WHERE username = ?')
  const countAdmins = ledger.sql<{ others: number }>(
    'SELECT count(*) AS others FROM users WHERE is_staff = 1 AND is_active = 1 AND id <> ?',
  )
  const countSignedIn = ledger.sql<{ ever: number }>('SELECT count(last_login) AS ever FROM users')
  const insertUser = ledger.sql(
    'INSERT INTO users (username, password, is_staff, may_download, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  const updateUser = ledger.sql(
    'UPDATE users SET password = ?, is_staff = ?, is_active = ?, may_download = ? WHERE id = ?',
  )
  const updatePin = ledger.sql('UPDATE users SET pin = ? WHERE id = ?')
  const updateLogin = ledger.sql('UPDATE users SET last_login = ? WHERE id = ?')
  const deleteUser = ledger.sql('DELETE FROM users WHERE id = ?')

  // What every request asks for. Any change empties all of it, after its commit.
  const byToken = new Map<string, TokenHolder & { access?: KnownAccessToken }>()
  const bySession = new Map<string, { account: AccountRecord; session: Session }>()
  const listeners: Array<() => void> = []

  async function write<Result>(work: () => Result): Promise<Result> {
    const result = await ledger.write(work)
    for (const kept of [byToken, bySession]) kept.clear()
    preferences.forget()
    for (const listener of listeners) listener()
    return result
  }

  function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): Value {
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(key, value)
    return value
  }

  const toRecord = (row: UserRow): AccountRecord => ({
    id: row.id,
    username: row.username,
    is_staff: row.is_staff === 1,
    is_active: row.is_active === 1,
    may_download: row.is_staff === 1 || row.may_download === 1,
    view: views.parse(row.view),
    has_pin: row.pin !== null,
    has_totp: totp.state(row.id).isOn,
    last_login: row.last_login === null ? null : new Date(row.last_login * 1000).toISOString(),
  })

  const activeAccount = (id: number | undefined): AccountRecord | undefined => {
    const row = id === undefined ? undefined : selectOne.get(id)
    return row?.is_active ? toRecord(row) : undefined
  }

  function holderOf(token: string): (TokenHolder & { access?: KnownAccessToken }) | undefined {
    const own = activeAccount(tokens.ownerOf(token))
    if (own) return keep(byToken, token, { account: own })
    const access = accessTokens.find(token)
    const account = activeAccount(access?.userId)
    return access && account && keep(byToken, token, { account, scope: access.scope, access })
  }

  function existing(id: number): UserRow {
    const row = selectOne.get(id)
    if (!row) throw errors.notFound('user')
    return row
  }

  function refuseLastAdmin(row: UserRow): void {
    if (!row.is_staff || !row.is_active) return
    if (countAdmins.get(row.id)!.others === 0)
      throw errors.conflict('This is the last active admin; make another account an admin first')
  }

  const proofWhile = (row: UserRow, isSame: (now: UserRow) => boolean): Proof => ({
    account: toRecord(row),
    holds() {
      const now = selectOne.get(row.id)
      return now?.is_active === 1 && isSame(now)
    },
  })
  const proofOf = (row: UserRow): Proof => proofWhile(row, ({ password }) => password === row.password)
  const proofOfPin = (row: UserRow, device: string): Proof =>
    proofWhile(row, ({ pin }) => pin === row.pin && devices.knows(device, row.id))

  /** Counted in the ledger, whatever the address. */
  async function attemptPin(row: UserRow, device: string): Promise<UserRow> {
    const known = await ledger.write(() => {
      const now = selectOne.get(row.id)
      return now?.is_active && now.pin !== null && devices.attempt(device, row.id) ? now : undefined
    })
    if (!known) throw notOnDevice()
    return known
  }

  function refuseOutdated(proof: Proof | undefined): void {
    if (proof && !proof.holds())
      throw errors.badRequest('The password or PIN has been changed meanwhile; sign in with the new one')
  }

  /** @throws bad_request  it is missing: neither a failed attempt nor one that takes back those before it */
  async function takeCode(row: UserRow, code: string | undefined): Promise<boolean> {
    if (!totp.state(row.id).isOn) return true
    if (code === undefined) throw codeRequired()
    return ledger.write(() => totp.take(row.id, code))
  }

  const revokeTokens = (id: number): void => {
    tokens.revoke(id)
    accessTokens.revokeAll(id)
  }

  const forgetFirstPassword = async (id: number): Promise<void> => {
    if (id !== FIRST_ID) return
    hasPasswordFile = false
    await rm(passwordFile, { force: true })
  }

  const accounts: AccountBook = {
    list: () => selectAll.all().map(toRecord),

    get(id) {
      const row = selectOne.get(id)
      return row && toRecord(row)
    },

    firstAdmin() {
      const row = selectFirstAdmin.get()
      return row && toRecord(row)
    },

    async create({ username, password, isStaff, mayDownload = false, view = null }, alongside) {
      refuseIllTogether({ is_staff: isStaff, may_download: mayDownload, view })
      const hash = await passwords.hash(password)
      return write(() => {
        if (selectNamed.get(username)) throw errors.conflict('This name is taken')
        const inserted = insertUser.run(username, hash, bit(isStaff), bit(mayDownload), now())
        const id = Number(inserted.lastInsertRowid)
        views.set(id, view)
        alongside?.(id)
        return toRecord(existing(id))
      })
    },

    async change(id, change, { keepSession, proof } = {}) {
      existing(id)
      const hash = change.password === undefined ? undefined : await passwords.hash(change.password)
      const pin = typeof change.pin === 'string' ? await passwords.hash(change.pin) : change.pin
      const record = await write(() => {
        refuseOutdated(proof)
        const row = existing(id) // it may have changed while the password was hashed
        const after = {
          is_staff: change.is_staff ?? row.is_staff === 1,
          is_active: change.is_active ?? row.is_active === 1,
          may_download: change.may_download ?? row.may_download === 1,
          view: change.view === undefined ? views.parse(row.view) : change.view,
        }
        refuseIllTogether(after)
        if (!after.is_staff || !after.is_active) refuseLastAdmin(row)
        updateUser.run(hash ?? row.password, bit(after.is_staff), bit(after.is_active), bit(after.may_download), id)
        if (change.view !== undefined) views.set(id, change.view)
        if (pin !== undefined) updatePin.run(pin, id)
        if (change.totp === null) totp.remove(id)
        if (hash || pin === null || !after.is_active) devices.forgetAll(id)
        if (hash) revokeTokens(id)
        if (!after.is_active) sessions.endAll(id)
        else if (hash) sessions.endAll(id, keepSession)
        return toRecord(existing(id))
      })
      if (hash) await forgetFirstPassword(id)
      return record
    },

    async dropFromViews(kind, id) {
      await write(() => views.drop(kind, id))
    },

    async remove(id) {
      await write(() => {
        refuseLastAdmin(existing(id))
        deleteUser.run(id)
      })
      await forgetFirstPassword(id)
    },

    isUnused: () => hasPasswordFile && countSignedIn.get()!.ever === 0,

    async checkPassword(username, password, address, signal, code) {
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(username, asker, async () => {
        const row = selectNamed.get(username)
        const isRight = await passwords.isRight(password, row?.password, asker)
        if (!row || !isRight || !row.is_active) {
          log.info({ address }, 'a login failed')
          return undefined
        }
        const isCodeRight = await takeCode(row, code)
        if (!isCodeRight) {
          log.info({ address }, 'a login failed at its code')
          return undefined
        }
        await ledger.write(() => updateLogin.run(now(), row.id))
        return proofOf(row)
      })
    },

    async checkOwnPassword(id, password, address, signal) {
      const row = existing(id)
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(row.username, asker, async () =>
        (await passwords.isRight(password, row.password, asker)) ? proofOf(row) : undefined,
      )
    },

    async token(id, proof) {
      refuseOutdated(proof)
      return (
        tokens.show(id) ??
        write(() => {
          existing(id)
          refuseOutdated(proof)
          return tokens.make(id)
        })
      )
    },

    async revokeToken(id) {
      await write(() => {
        existing(id)
        tokens.revoke(id)
      })
    },

    totp: (id) => totp.state(id),

    beginTotp: (id, proof) =>
      write(() => {
        const { username } = existing(id)
        refuseOutdated(proof)
        if (totp.state(id).isOn)
          throw errors.conflict('This account has an authenticator app already; turn that off before another one')
        return totp.begin(id, username)
      }),

    enableTotp: (id, code) =>
      write(() => {
        existing(id)
        const recoveryCodes = totp.enable(id, code)
        if (!recoveryCodes) throw errors.badRequest(WRONG_CODE, { fields: { code: 'is wrong' } })
        devices.forgetAll(id)
        return recoveryCodes
      }),

    async disableTotp(id, { password, code }, { address, signal }) {
      const row = existing(id)
      const asker = { address: clientOf(address), signal }
      const isRight = await throttle.attempt(row.username, asker, async () => {
        if (!(await passwords.isRight(password, row.password, asker))) return undefined
        const isTaken = await write(() => totp.take(id, code) && proofOf(row).holds() && (totp.remove(id), true))
        return isTaken || undefined
      })
      return isRight === true
    },

    accessTokens: (id) => accessTokens.list(id),

    addAccessToken: (id, token) =>
      write(() => {
        const { is_staff, may_download } = toRecord(existing(id))
        const highest = highestScope({ isAdmin: is_staff, mayDownload: may_download })
        if (!includes(highest, token.scope))
          throw errors.badRequest(`This account may not have a token with the scope ${token.scope}`, {
            fields: { scope: `goes up to ${highest} for this account` },
          })
        return accessTokens.make(id, token)
      }),

    async revokeAccessToken(id, tokenId) {
      await write(() => accessTokens.revoke(id, tokenId))
    },

    openSession: (id, isRemembered, proof) =>
      write(() => {
        existing(id)
        refuseOutdated(proof)
        updateLogin.run(now(), id)
        return sessions.open(id, isRemembered)
      }),

    endSession: (session) => write(() => sessions.end(session)),

    onDevice(cookies) {
      const device = devices.of(cookies)
      if (device === undefined) return []
      return devices.accountsOf(device).flatMap((id) => activeAccount(id) ?? [])
    },

    keepOnDevice: (id, cookies, proof) =>
      ledger.write(() => {
        refuseOutdated(proof)
        return existing(id).pin === null ? undefined : devices.add(cookies, id)
      }),

    async forgetOnDevice(id, cookies) {
      const device = devices.of(cookies)
      if (device !== undefined) await ledger.write(() => devices.forget(device, id))
    },

    async checkPin(id, pin, { cookies, address, signal }) {
      const device = devices.of(cookies)
      const row = selectOne.get(id)
      if (!row || device === undefined || !devices.accountsOf(device).includes(id)) throw notOnDevice()
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(row.username, asker, async () => {
        const known = await attemptPin(row, device)
        if (!(await passwords.isRight(pin, known.pin!, asker))) {
          log.info({ address }, 'a login failed')
          return undefined
        }
        await ledger.write(() => {
          devices.succeed(device, id)
          updateLogin.run(now(), id)
        })
        return proofOfPin(known, device)
      })
    },

    userPreferences: (id) => preferences.of(id),

    changeUserPreferences: (id, changes) =>
      write(() => {
        existing(id)
        return preferences.change(id, changes)
      }),

    watch: (listener) => void listeners.push(listener),

    byToken(token) {
      const kept = byToken.get(token) ?? holderOf(token)
      if (!kept?.access) return kept
      if (accessTokens.hasEnded(kept.access)) return undefined
      accessTokens.noteUse(kept.access.id)
      return kept
    },

    bySession(cookie) {
      const kept = bySession.get(cookie)
      if (kept) return kept.session.expiresAt > clock.now() ? kept : undefined
      const session = sessions.find(cookie)
      const account = activeAccount(session?.userId)
      return session && account && keep(bySession, cookie, { account, session })
    },

    link: links.sign,

    byLink(path, signed) {
      const session = links.read(path, signed)
      return session === undefined ? undefined : activeAccount(sessions.holder(session))
    },

    async ensureFirst({ username, password }) {
      const [first] = selectAll.all()
      if (first) return { isNew: false, username: first.username }
      const made = password === null ? randomBytes(15).toString('base64url') : undefined
      // The file first: an account whose password nobody knows would be worse than a file without its account.
      if (made) await writeWhole(passwordFile, `${made}\n`)
      hasPasswordFile = made !== undefined
      const hash = await passwords.hash(password ?? made!)
      await write(() => {
        const { lastInsertRowid } = insertUser.run(username, hash, 1, 0, now())
        tokens.make(Number(lastInsertRowid))
      })
      return { isNew: true, username, ...(made && { password: made, passwordFile }) }
    },
  }
  return accounts
}

const WRONG_CODE = 'This code is wrong, or its time is over: take the one that the app shows now'
const CODE_REQUIRED =
  'This account signs in with a code of its authenticator app too. An app that has no place for the code needs a token instead: make one in Settings → Account'

const codeRequired = () =>
  errors.badRequest(CODE_REQUIRED, {
    fields: { code: 'is required' },
    extra: { code_required: true, non_field_errors: [CODE_REQUIRED] },
  })

const notOnDevice = () =>
  errors.badRequest('Sign in with the password: a PIN is only for devices where its account has signed in before')

const bit = (value: boolean): number => (value ? 1 : 0)

/** Who sees a part only could not see what becomes of what they change. */
function refuseIllTogether({ is_staff, may_download, view }: AccountRights): void {
  if (!view || (!is_staff && !may_download)) return
  const word = is_staff ? 'is_staff' : 'may_download'
  throw errors.badRequest(`An account with a view cannot have ${word} too: send view null, or ${word} false`, {
    fields: { [word]: 'must be false for an account with a view' },
  })
}
