/** Finds out whose a token, a session or a signed address is: every request asks this. */
import type { Session } from './sessions.ts'
import { activeAccount, type Book, type KeptHolder } from './state.ts'
import type { AccountRecord, TokenHolder } from './types.ts'

/** Kept look-ups; past this they are thrown away and read anew. */
const MOST_KEPT = 1000

/** As `Credentials.byToken` says. */
export function byToken(book: Book, token: string): TokenHolder | undefined {
  const { kept, accessTokens } = book
  const holder = kept.byToken.get(token) ?? holderOf(book, token)
  if (!holder?.access) return holder
  if (accessTokens.hasEnded(holder.access)) return undefined
  accessTokens.noteUse(holder.access.id)
  return holder
}

function holderOf(book: Book, token: string): KeptHolder | undefined {
  const { kept, tokens, accessTokens } = book
  const own = activeAccount(book, tokens.ownerOf(token))
  if (own) return keep(kept.byToken, token, { account: own })
  const access = accessTokens.find(token)
  const account = activeAccount(book, access?.userId)
  return access && account && keep(kept.byToken, token, { account, scope: access.scope, access })
}

/** As `Credentials.bySession` says. */
export function bySession(book: Book, cookie: string): { account: AccountRecord; session: Session } | undefined {
  const known = book.kept.bySession.get(cookie) ?? holderOfSession(book, cookie)
  if (!known || book.sessions.hasEnded(known.session)) return undefined
  book.sessions.noteUse(known.session)
  return known
}

function holderOfSession(book: Book, cookie: string): { account: AccountRecord; session: Session } | undefined {
  const { kept, sessions } = book
  const session = sessions.find(cookie)
  const account = activeAccount(book, session?.userId)
  return session && account && keep(kept.bySession, cookie, { account, session })
}

/** As `Credentials.byLink` says. */
export function byLink(book: Book, path: string, signed: string): AccountRecord | undefined {
  const session = book.links.read(path, signed)
  return session === undefined ? undefined : activeAccount(book, book.sessions.holder(session))
}

function keep<Key, Value>(kept: Map<Key, Value>, key: Key, value: Value): Value {
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, value)
  return value
}
