/**
 * Pending sign-ins of browsers at the provider. Their state is sealed in a cookie of the browser, so that any number
 * can be pending, and a restart ends none.
 */
import type { Clock, Ledger } from 'archivolt'
import type { Secrets } from './provider.ts'

export interface Away extends Secrets {
  /** The path on the page at which to continue. */
  next: string
  redirectUri: string
  isRemembered: boolean
  /** The account to be linked; omitted: a sign-in. */
  userId?: number
}

export const AWAY_SECONDS = 600
/** The purpose of the seal, which prevents other sealed values from being used as such a cookie. */
const PURPOSE = 'oidc.away'
/** Maximum length of the sealed value: browsers limit cookies to 4,096 bytes. */
const LONGEST = 3800
/** Maximum number of remembered states: with more sign-ins within ten minutes, the oldest could be replayed. */
const MOST_BACK = 10_000

export type AwayBrowsers = ReturnType<typeof openAwayBrowsers>

export function openAwayBrowsers({ clock, ledger }: { clock: Clock; ledger: Pick<Ledger, 'seal' | 'unseal'> }) {
  /** When each used state expires with its cookie. */
  const back = new Map<string, number>()

  /** @returns the value of the cookie */
  function leave(away: Away): string {
    const untilMs = clock.now() + AWAY_SECONDS * 1000
    const sealed = (next: string) => ledger.seal(PURPOSE, JSON.stringify({ ...away, next, untilMs }))
    const cookie = sealed(away.next)
    return cookie.length <= LONGEST ? cookie : sealed('/')
  }

  /** Valid once, because a second use is a replay. @param cookie  the value of the cookie */
  function comeBack(cookie: string): Away | undefined {
    const text = cookie.length <= LONGEST ? ledger.unseal(PURPOSE, cookie) : undefined
    if (text === undefined) return undefined
    const { untilMs, ...away } = JSON.parse(text) as Away & { untilMs: number }
    const now = clock.now()
    if (untilMs <= now || back.has(away.state)) return undefined
    for (const [state, endsMs] of back) {
      if (endsMs > now && back.size < MOST_BACK) break
      back.delete(state)
    }
    back.set(away.state, untilMs)
    return away
  }

  return { leave, comeBack }
}
