/** Limits of sign-in codes: requests and redemptions by address, wrong lookups by account. */
import { type Clock, clientOf, errors, Rate } from 'archivolt'

const MINUTE_MS = 60_000
const REQUESTED = { most: 20, withinMs: 10 * MINUTE_MS }
/** High, because several screens of a household may share an address. */
const REDEEMED = { most: 120, withinMs: MINUTE_MS }
const WRONG = { most: 20, withinMs: 10 * MINUTE_MS }

export const tooManyCodes = (retryAfterSeconds: number) =>
  errors.throttled('Too many sign-in codes; try again later', { retryAfterSeconds })

/** All methods: @throws throttled */
export interface SignInCodeLimits {
  request(address: string): void
  redeem(address: string): void
  /** Refuses an account that has typed too many wrong codes. */
  lookUp(account: number): void
  /** Counts a wrong code. */
  miss(account: number): void
}

export function openLimits(clock: Clock): SignInCodeLimits {
  const requested = new Rate(clock, REQUESTED)
  const redeemed = new Rate(clock, REDEEMED)
  const wrong = new Rate(clock, WRONG)
  const unless = (isAllowed: boolean, withinMs: number) => {
    if (!isAllowed) throw tooManyCodes(withinMs / 1000)
  }
  return {
    request: (address) => unless(requested.take(clientOf(address)), REQUESTED.withinMs),
    redeem: (address) => unless(redeemed.take(clientOf(address)), REDEEMED.withinMs),
    lookUp: (account) => unless(!wrong.isOver(String(account)), WRONG.withinMs),
    miss: (account) => void wrong.take(String(account)),
  }
}
