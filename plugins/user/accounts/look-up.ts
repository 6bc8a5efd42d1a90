/** Finds the account of a token, a session or a signed address, for every request. */
import type { Credentials, Identity } from 'archivolt'
import type { Way } from './sessions.ts'
import { type AccountsState, activeAccount, type CachedSession, type CachedToken } from './state.ts'

/** Maximum number of cached lookups; beyond it the cache is cleared. */
const MOST_CACHED = 1000

export const lookUpsOf = (
  state: AccountsState,
): Pick<Credentials, 'byToken' | 'bySession' | 'byLink' | 'pageSizeOf'> => {
  const { cache, tokens, accessTokens, sessions, links, lastingLinks, preferences } = state

  function holderOf(token: string): CachedToken | undefined {
    const own = identityOf(state, tokens.ownerOf(token))
    if (own) return cached(cache.byToken, token, { account: own })
    const access = accessTokens.find(token)
    const account = identityOf(state, access?.userId)
    return access && account && cached(cache.byToken, token, { account, scope: access.scope, access })
  }

  function holderOfSession(cookie: string): CachedSession | undefined {
    const session = sessions.find(cookie)
    const account = identityOf(state, session?.userId, session?.way)
    return session && account && cached(cache.bySession, cookie, { account, session })
  }

  return {
    byToken(token) {
      const holder = cache.byToken.get(token) ?? holderOf(token)
      if (!holder?.access) return holder
      if (accessTokens.hasEnded(holder.access)) return undefined
      accessTokens.noteUse(holder.access.id)
      return holder
    },

    bySession(cookie) {
      const known = cache.bySession.get(cookie) ?? holderOfSession(cookie)
      if (!known || sessions.hasEnded(known.session)) return undefined
      sessions.noteUse(known.session)
      return known
    },

    byLink(path, signed) {
      const session = links.read(path, signed)
      const holder = session === undefined ? lastingLinks.read(path, signed) : sessions.holder(session)
      return identityOf(state, holder)
    },

    pageSizeOf(id) {
      const { page_size } = preferences.of(id)
      return typeof page_size === 'number' ? page_size : 0
    },
  }
}

/**
 * The identity of an account. An admin without the required second factor has no admin rights, and may not download.
 * @param way  how the user has signed in: a provider or proxy is responsible for the second factor of its users
 */
function identityOf(state: AccountsState, id: number | undefined, way?: Way): Identity | undefined {
  const account = activeAccount(state, id)
  if (!account) return undefined
  const { username, is_staff, may_download: mayDownload, view, has_totp } = account
  const isElsewhere = way === 'provider' || way === 'proxy'
  const lacksFactor = is_staff && !has_totp && !isElsewhere && state.rules.adminsNeedSecondFactor
  return {
    id: account.id,
    username,
    isAdmin: is_staff && !lacksFactor,
    mayDownload: mayDownload && !lacksFactor,
    ...(view && { view: state.views.whole(view) }),
    ...(lacksFactor && { needsSecondFactor: true }),
  }
}

function cached<Key, Value>(cache: Map<Key, Value>, key: Key, value: Value): Value {
  if (cache.size >= MOST_CACHED) cache.clear()
  cache.set(key, value)
  return value
}
