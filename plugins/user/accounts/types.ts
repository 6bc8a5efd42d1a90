/** What accounts are, and what their service offers. */
import type { AccountRights, Scope, View } from 'archivolt'
import type { NewAccessToken } from './access-tokens.ts'
import type { SignedLink } from './device-links.ts'
import type { DeviceCookie } from './devices.ts'
import type { NewSignIn } from './known-devices.ts'
import type { UserPicture } from './pictures.ts'
import type { NewSession, SessionRecord, Way } from './sessions.ts'
import type { TotpState } from './totp.ts'
import type { UserPreferences } from './user-preferences.ts'

export interface NewAccount {
  username: string
  password: string
  isStaff: boolean
  mayDownload?: boolean
  view?: View | null
}

/** What of an account is to be otherwise. */
export interface AccountChange extends AccountRights {
  password?: string
  /** null: it has none from then on. */
  pin?: string | null
  /** Its authenticator app is forgotten. */
  totp?: null
  is_active?: boolean
}

/** What admins decide for all accounts. */
export interface AccountRules {
  /** A session that nobody has used for so long has ended. */
  idleDays: number
  /** Without one an admin may do what everybody may, and set one up. */
  adminsNeedSecondFactor: boolean
}

/** `device` is left out where it is not said from where it is opened. */
export interface OpenedSession extends NewSession {
  device?: DeviceCookie
}

declare module 'archivolt' {
  /** An account as contract B shows it. */
  interface AccountRecord {
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
    /** The version of the picture that it has chosen for itself; null: none. */
    picture: string | null
    last_login: string | null
  }

  /** What an admin says of an account. */
  interface AccountRights {
    is_staff?: boolean
    may_download?: boolean
    view?: View | null
  }

  /** All but the token itself: that is shown once. */
  interface AccessTokenRecord {
    id: number
    name: string
    scope: Scope
    created: string
    expires: string | null
    /** To the minute. */
    last_used: string | null
  }

  /**
   * A right password or PIN. Hashing takes long enough for another request to change it: what is done on its strength
   * asks again, in the write that does it.
   */
  interface Proof {
    account: AccountRecord
    /** It is still that of an active account; a PIN on a device that still knows the account. */
    holds(): boolean
  }

  /** Where somebody signs in, and how. */
  interface SignInFrom {
    address: string
    /** Headers of the request. */
    agent: string | undefined
    cookies: string | undefined
    way: Way
  }

  /** Users, their tokens, sessions and preferences. Passwords are scrypt, run asynchronously, two at once. */
  interface Accounts {
    list(): AccountRecord[]
    get(id: number): AccountRecord | undefined
    /** Whose marks are those of the archive where it can have but one watcher's: the admin who was here first. */
    firstAdmin(): AccountRecord | undefined
    /**
     * @param alongside  done in the same write, with its id
     * @throws conflict: the name is taken, or looks like one that is; bad_request: its letters are of several scripts;
     *   rights that go ill together
     */
    create(account: NewAccount, alongside?: (id: number) => void): Promise<AccountRecord>
    /**
     * A changed password ends the account's other sessions, revokes its token and access tokens, and takes it off all
     * devices. Its other sessions end, too, once it is an admin or no longer one, or its authenticator app is forgotten.
     * @throws not_found, conflict (last active admin), bad_request (the proof no longer holds; rights that go ill
     *   together)
     */
    change(
      id: number,
      change: AccountChange,
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
    /**
     * A new secret for an authenticator app.
     * @throws conflict: the account has one; bad_request: the proof no longer holds
     */
    beginTotp(id: number, proof: Proof): Promise<{ secret: string; uri: string }>
    /**
     * From now on a login asks for a code; all devices forget the account, and its other sessions end: they began
     * without one.
     * @returns its recovery codes, which nobody is shown again
     * @throws bad_request: the code is wrong, or nothing was begun
     */
    enableTotp(id: number, code: string, keepSession?: string | undefined): Promise<string[]>
    /**
     * By own password and a code; its other sessions end. false: one of them is wrong. Same throttle as logins.
     * @throws throttled
     */
    disableTotp(
      id: number,
      given: { password: string; code: string },
      from: { address: string; signal?: AbortSignal; keepSession?: string | undefined },
    ): Promise<boolean>
    accessTokens(id: number): AccessTokenRecord[]
    /** With the token, which nobody is shown again. @throws conflict: it has as many as it may; bad_request: its scope */
    addAccessToken(id: number, token: NewAccessToken): Promise<AccessTokenRecord & { token: string }>
    /** @throws not_found */
    revokeAccessToken(id: number, tokenId: number): Promise<void>
    /**
     * A new session: values of the cookies `sessionid`, `csrftoken` and `device`. Remembered, the account's PIN is enough
     * there from now on, if it has one. @throws bad_request: the proof no longer holds
     */
    openSession(id: number, isRemembered: boolean, proof?: Proof, from?: SignInFrom): Promise<OpenedSession>
    /** A program has signed in: it is known as a device is, without a cookie. */
    noteProgram(id: number, from: SignInFrom): Promise<void>
    endSession(session: string): Promise<void>
    /** Of an account, the last used first. @param current  hash of the session that asks */
    sessions(id: number, current?: string | undefined): SessionRecord[]
    /** By the id in that list. Its device forgets the account, too. @throws not_found */
    endNamedSession(id: number, session: string): Promise<void>
    endOtherSessions(id: number, keep?: string | undefined): Promise<void>
    /** Its account has shown its password once more. @throws bad_request: the proof no longer holds */
    proveSession(session: string, proof: Proof): void
    /** It began, or was proved, within a quarter of an hour; a proxy in front proves its own each time. */
    isProvenLately(session: string): boolean
    /** On devices that are new to the account, until it has seen them. @param session  hash of the one that asks */
    newSignIns(id: number, session?: string | undefined): NewSignIn[]
    /** The account has seen it; the new device itself cannot say so. @throws not_found */
    seeSignIn(id: number, signIn: number, session?: string | undefined): Promise<void>
    setRules(rules: AccountRules): void
    /** A signed address for a device without a cookie; it ends with the session. @param session  the session's hash */
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
    picture(id: number): UserPicture | undefined
    /** @param jpeg  null: none any more. @throws not_found */
    changePicture(id: number, jpeg: Buffer | null): Promise<AccountRecord>
    /** What the account has chosen for itself. */
    userPreferences(id: number): UserPreferences
    /** @throws not_found */
    changeUserPreferences(id: number, changes: UserPreferences): Promise<UserPreferences>
  }
}
