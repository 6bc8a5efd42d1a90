/** Cookie or token → actor; may this actor use this route. */

export interface Actor {
  /** 0: nobody has signed in. */
  id: number
  username: string
  isAdmin: boolean
  via: 'token' | 'session' | 'none'
  /** Hash of the session's id, with `via: 'session'`. */
  session?: string
}

/** An account as contract B shows it. */
export interface AccountRecord {
  id: number
  username: string
  is_staff: boolean
  is_active: boolean
  last_login: string | null
}

/** Users, their tokens, sessions and settings. Passwords are scrypt, run asynchronously, two at once. */
export interface Accounts {
  list(): AccountRecord[]
  get(id: number): AccountRecord | undefined
  /** @throws conflict: the name is taken */
  create(account: { username: string; password: string; isStaff: boolean }): Promise<AccountRecord>
  /** A changed password ends the account's other sessions and revokes its token. @throws not_found, conflict (last active admin) */
  change(id: number, change: { password?: string; is_staff?: boolean; is_active?: boolean }, keepSession?: string): Promise<AccountRecord>
  /** And its token, sessions, settings. @throws not_found, conflict (last active admin) */
  remove(id: number): Promise<void>
  /** Right name and password, throttled per (account, address). @throws throttled; undefined: wrong */
  checkPassword(username: string, password: string, address: string): Promise<AccountRecord | undefined>
  /** The user's own password, for a change of it. Same throttle. */
  isPassword(id: number, password: string, address: string): Promise<boolean>
  /** The user's token, made now if there is none. */
  token(id: number): Promise<string>
  revokeToken(id: number): Promise<void>
  /** A new session: values of the cookies `sessionid` and `csrftoken`. */
  openSession(id: number, isRemembered: boolean): Promise<{ sessionId: string; csrfToken: string; maxAgeSeconds: number }>
  endSession(session: string): Promise<void>
  settings(id: number): Record<string, unknown>
  changeSettings(id: number, changes: Record<string, unknown>): Promise<Record<string, unknown>>
}
