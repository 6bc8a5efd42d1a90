/**
 * Browsers that are at the provider. What each must come back with lies sealed in its own cookie: however many go
 * there, nobody is forgotten, and a restart ends none of them.
 */
import type { Clock, Ledger } from 'archivolt'
import type { Secrets } from './provider.ts'

export interface Away extends Secrets {
  /** The path on the page that it goes on at. */
  next: string
  redirectUri: string
  isRemembered: boolean
  /** The account that is to be connected; else it signs in. */
  userId?: number
}

export const AWAY_SECONDS = 600
/** What a cookie is sealed for: nothing else that was sealed here can be sent as one. */
const PURPOSE = 'oidc.away'
/** Browsers keep cookies up to 4,096 bytes. */
const LONGEST = 3800
/** Of those that came back: with more than so many within ten minutes the first could be sent once more. */
const MOST_BACK = 10_000

export type AwayBrowsers = ReturnType<typeof openAwayBrowsers>

export function openAwayBrowsers({ clock, ledger }: { clock: Clock; ledger: Pick<Ledger, 'seal' | 'unseal'> }) {
  /** By state, for as long as its cookie would hold. */
  const back = new Map<string, number>()

  /** @returns the value of its cookie */
  function leave(away: Away): string {
    const untilMs = clock.now() + AWAY_SECONDS * 1000
    const sealed = (next: string) => ledger.seal(PURPOSE, JSON.stringify({ ...away, next, untilMs }))
    const cookie = sealed(away.next)
    return cookie.length <= LONGEST ? cookie : sealed('/')
  }

  /** Once: whoever sends the same cookie again is somebody else. @param cookie  its value */
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
