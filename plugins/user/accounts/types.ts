/** The types of accounts and of their service. */
import type { AccountRights, Scope, View } from 'archivolt'
import type { NewAccessToken } from './access-tokens.ts'
import type { SignedLink } from './device-links.ts'
import type { DeviceCookie } from './devices.ts'
import type { NewSignIn } from './known-devices.ts'
import type { UserPicture } from './pictures.ts'
import type { UserPreferences } from './preference-rows.ts'
import type { NewSession, SessionRecord, Way } from './sessions.ts'
import type { TotpState } from './totp.ts'

export interface NewAccount {
  username: string
  password: string
  isStaff: boolean
  mayDownload?: boolean
  view?: View | null
}

/** Changes of an account. */
export interface AccountChange extends AccountRights {
  password?: string
  /** null: removes it. */
  pin?: string | null
  /** Removes its authenticator app. */
  totp?: null
  is_active?: boolean
}

/** The rules of admins for all accounts. */
export interface AccountRules {
  /** Number of days without use after which a session ends. */
  idleDays: number
  /** An admin without a second factor has the same rights as other accounts, but can set one up. */
  adminsNeedSecondFactor: boolean
}

/** `device` is omitted if the session was opened without `from`. */
export interface OpenedSession extends NewSession {
  device?: DeviceCookie
}

declare module 'archivolt' {
  /** An account as the API shows it. */
  interface AccountRecord {
    id: number
    username: string
    is_staff: boolean
    is_active: boolean
    /** Always true for admins. */
    may_download: boolean
    /** null: the account sees the whole archive. */
    view: View | null
    /** Whether it can sign in with its PIN on devices where it has signed in with its password. */
    has_pin: boolean
    /** Whether it signs in with its password and a code from its authenticator app. */
    has_totp: boolean
    /** The version of its picture; null: it has none. */
    picture: string | null
    last_login: string | null
  }

  /** The rights that an admin gives an account. */
  interface AccountRights {
    is_staff?: boolean
    may_download?: boolean
    view?: View | null
  }

  /** An access token without its secret, which is shown only once. */
  interface AccessTokenRecord {
    id: number
    name: string
    scope: Scope
    created: string
    expires: string | null
    /** Accurate to the minute. */
    last_used: string | null
  }

  /**
   * A correct password or PIN. Another request can change either while it is being hashed, so code that relies on a
   * proof calls `holds` again inside its write.
   */
  interface Proof {
    account: AccountRecord
    /**
     * Whether the password or PIN is still current, the account is active, and the device of a PIN still knows the
     * account.
     */
    holds(): boolean
  }

  /** The client and the way of a sign-in. */
  interface SignInFrom {
    address: string
    /** Headers of the request. */
    agent: string | undefined
    cookies: string | undefined
    way: Way
  }

  /** Accounts with their tokens, sessions and preferences. Passwords are hashed by scrypt, two at a time. */
  interface Accounts {
    list(): AccountRecord[]
    get(id: number): AccountRecord | undefined
    /** The oldest admin: data of the reference's single user belongs to this account. */
    firstAdmin(): AccountRecord | undefined
    /**
     * @param alongside  runs in the same write, with the new account's id
     * @throws conflict: the name is taken, or looks like an existing one; bad_request: the name mixes scripts, or the
     * rights contradict each other
     */
    create(account: NewAccount, alongside?: (id: number) => void): Promise<AccountRecord>
    /**
     * Changes an account. A new password ends the account's other sessions, revokes all its tokens, and makes all
     * devices forget it. Its other sessions also end when it becomes an admin or stops being one, or loses its
     * authenticator app.
     * @throws not_found, conflict (last active admin), bad_request (the proof no longer holds; the rights contradict
     * each other)
     */
    change(
      id: number,
      change: AccountChange,
      by?: { keepSession?: string | undefined; proof?: Proof | undefined },
    ): Promise<AccountRecord>
    /**
     * Sets how groups that views may name are read; a plugin calls it at the start. @param of  the members of a group,
     * if it exists
     */
    setGroups(of: (id: number) => ReadonlyArray<{ kind: string; id: string }> | undefined): void
    /** Call it when the members of groups have changed. */
    regroup(): void
    isGroup(id: string): boolean
    /** Whether a view names this group. */
    namesGroup(id: number): boolean
    /** The view of an account, with the members of its groups; undefined: it sees everything. @throws not_found */
    viewOf(id: number): View | undefined
    /** Removes a deleted document from all views. */
    dropFromViews(kind: string, id: string): Promise<void>
    /** Removes the account with all its data. @throws not_found, conflict (last active admin) */
    remove(id: number): Promise<void>
    /** Call it when an older ledger was put back: no account that is added later gets the id of one that it lacks. */
    skipLostIds(): Promise<void>
    /** Whether nobody has signed in yet, and the generated first password is still in its file. */
    isUnused(): boolean
    /**
     * Checks name and password, and the code if the account has a second factor; each code is accepted once. Attempts
     * are throttled by account and address. undefined: one of them is wrong.
     * @param signal  signal of the request: stops waiting when the client disconnects
     * @param code    code from the authenticator app, or a recovery code
     * @throws throttled; bad_request: the password is correct and the code is missing
     */
    checkPassword(
      username: string,
      password: string,
      address: string,
      signal?: AbortSignal,
      code?: string,
    ): Promise<Proof | undefined>
    /** Checks the password of a signed-in user, with the same throttle. undefined: the password is wrong. */
    checkOwnPassword(id: number, password: string, address: string, signal?: AbortSignal): Promise<Proof | undefined>
    /** The account's token; created if the account has none. @throws bad_request: the proof no longer holds */
    token(id: number, proof?: Proof): Promise<string>
    revokeToken(id: number): Promise<void>
    totp(id: number): TotpState
    /**
     * Makes a secret for an authenticator app.
     * @throws conflict: the account already has an app; bad_request: the proof no longer holds
     */
    beginTotp(id: number, proof: Proof): Promise<{ secret: string; uri: string }>
    /**
     * From now on signing in requires a code. All devices forget the account, and its other sessions end, because they
     * began without a code.
     * @returns the recovery codes, which cannot be shown again
     * @throws bad_request: the code is wrong, or `beginTotp` was not called before
     */
    enableTotp(id: number, code: string, keepSession?: string | undefined): Promise<string[]>
    /**
     * Removes the authenticator app after checking the account's password and a code, and ends its other sessions.
     * false: one of the two is wrong. Has the same throttle as signing in.
     * @throws throttled
     */
    disableTotp(
      id: number,
      given: { password: string; code: string },
      from: { address: string; signal?: AbortSignal; keepSession?: string | undefined },
    ): Promise<boolean>
    accessTokens(id: number): AccessTokenRecord[]
    /**
     * Returns the token itself, which cannot be shown again. @throws conflict: too many; bad_request: the scope is too
     * wide
     */
    addAccessToken(id: number, token: NewAccessToken): Promise<AccessTokenRecord & { token: string }>
    /** @throws not_found */
    revokeAccessToken(id: number, tokenId: number): Promise<void>
    /**
     * Opens a session and returns the values of the cookies `sessionid`, `csrftoken` and `device`.
     * @param isRemembered  the session lasts longer, and the account's PIN is enough on this device from now on
     * @throws bad_request: the proof no longer holds
     */
    openSession(id: number, isRemembered: boolean, proof?: Proof, from?: SignInFrom): Promise<OpenedSession>
    /** Records that a program has signed in; it counts as a device without a cookie. */
    noteProgram(id: number, from: SignInFrom): Promise<void>
    endSession(session: string): Promise<void>
    /** The account's sessions, the last used first. @param current  hash of the requesting session */
    sessions(id: number, current?: string | undefined): SessionRecord[]
    /** Ends a session; its device also forgets the account. @param session  the id in the list. @throws not_found */
    endNamedSession(id: number, session: string): Promise<void>
    /** Ends all sessions except one; all devices except its own also forget the account. */
    endOtherSessions(id: number, keep?: string | undefined): Promise<void>
    /**
     * Records that the account has confirmed its password in this session. @throws bad_request: the proof no longer
     * holds
     */
    proveSession(session: string, proof: Proof): void
    /**
     * Whether the session is less than 15 minutes old, or was confirmed within that time, or a proxy is responsible for
     * its requests.
     */
    isProvenLately(session: string): boolean
    /** Sign-ins on new devices that the account has not seen yet. @param session  hash of the requesting session */
    newSignIns(id: number, session?: string | undefined): NewSignIn[]
    /** Marks a sign-in as seen; the new device itself cannot do this. @throws not_found */
    seeSignIn(id: number, signIn: number, session?: string | undefined): Promise<void>
    setRules(rules: AccountRules): void
    /**
     * Signs an address for a device without a cookie; it expires with the session. @param session  hash of the session
     */
    link(path: string, session: string): SignedLink
    /**
     * Signs a path and everything below it for programs that can only store an address: `<path>/<signature>/…`. The
     * address gives read access with the rights of the account, until its password is changed. @throws not_found
     * @param untilPin  no address, but a proof that also ends when the PIN is changed
     */
    lastingLink(path: string, id: number, untilPin?: boolean): string
    /** The accounts that can sign in with their PIN on this device. @param cookies  the request's header */
    onDevice(cookies: string | undefined): AccountRecord[]
    /**
     * From now on the account's PIN is sufficient on this device. undefined: the account has no PIN.
     * @throws bad_request: the proof no longer holds
     */
    keepOnDevice(id: number, cookies: string | undefined, proof: Proof): Promise<DeviceCookie | undefined>
    forgetOnDevice(id: number, cookies: string | undefined): Promise<void>
    /**
     * Checks a PIN with the same throttle as passwords. undefined: wrong. @throws throttled; bad_request: no PIN on
     * this device
     */
    checkPin(
      id: number,
      pin: string,
      from: { cookies: string | undefined; address: string; signal?: AbortSignal },
    ): Promise<Proof | undefined>
    /**
     * Finds the admin with this PIN, on any device. Throttles guessing by the requesting account; the caller also
     * limits the number of attempts. @throws throttled
     * @param from.count  called before each check that the throttle allows: counts it, or throws to refuse it
     */
    checkAdminPin(
      askedBy: number,
      pin: string,
      from: { address: string; signal?: AbortSignal; count: () => Promise<void> },
    ): Promise<AccountRecord | undefined>
    picture(id: number): UserPicture | undefined
    /** @param jpeg  null: removes the picture. @throws not_found */
    changePicture(id: number, jpeg: Buffer | null): Promise<AccountRecord>
    /** The preferences that the account has chosen. */
    userPreferences(id: number): UserPreferences
    /** @throws not_found */
    changeUserPreferences(id: number, changes: UserPreferences): Promise<UserPreferences>
  }
}
