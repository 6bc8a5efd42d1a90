/** The token provider: its address, whether it responds, its last token and its last failure. */
import { type Clock, epochSeconds, type Static, Type, withLimit } from 'archivolt'
import type { TokenNews } from './child.ts'

const PING_TIMEOUT_MS = 3000
/** Short, so that people soon see that a restarted provider responds. */
const PING_AGAIN_MS = 10_000

/** `untried`: it responds, but no token has been needed yet. */
export const TokenHealth = Type.Object({
  state: Type.Enum(['none', 'untried', 'works', 'failed']),
  address: Type.String(),
  last_token: Type.Integer({ minimum: 0 }),
  message: Type.String(),
})
type TokenHealth = Static<typeof TokenHealth>

interface Known {
  address: string
  /** Epoch seconds; 0: never. */
  lastToken: number
  failure: { message: string; isAway: boolean } | undefined
}

export type Tokens = ReturnType<typeof openTokens>

/** @param addressNow  undefined: none is set */
export function openTokens(clock: Clock, addressNow: () => string | undefined) {
  let lastPing: { at: string; untilMs: number; done: Promise<void> } | undefined
  let known: Known = { address: '', lastToken: 0, failure: undefined }

  /** Reports the outcome of a token request. */
  function hear({ failed, isAway = false }: TokenNews): void {
    const found = current()
    if (failed !== undefined) found.failure = { message: failed, isAway }
    else Object.assign(found, { lastToken: epochSeconds(clock), failure: undefined })
  }

  /** Checks whether the provider responds at all. */
  function ping(): Promise<void> {
    const address = addressNow()
    if (address === undefined) return Promise.resolve()
    const now = clock.steady()
    if (lastPing?.at !== address || now >= lastPing.untilMs)
      lastPing = { at: address, untilMs: now + PING_AGAIN_MS, done: pingAt(address) }
    return lastPing.done
  }

  function health(): TokenHealth {
    if (addressNow() === undefined) return { state: 'none', address: '', last_token: 0, message: '' }
    const { address, lastToken, failure } = current()
    const state = failure ? 'failed' : lastToken > 0 ? 'works' : 'untried'
    return { state, address, last_token: lastToken, message: failure?.message ?? '' }
  }

  async function pingAt(address: string): Promise<void> {
    const fault = await faultOf(address)
    const found = current()
    if (found.address !== address) return
    if (fault !== undefined) found.failure = { message: fault, isAway: true }
    else if (found.failure?.isAway) found.failure = undefined
  }

  function current(): Known {
    const address = addressNow() ?? ''
    if (known.address !== address) known = { address, lastToken: 0, failure: undefined }
    return known
  }

  return { hear, ping, health }
}

/** Why the provider does not respond; undefined: it responds. */
async function faultOf(address: string): Promise<string | undefined> {
  try {
    await withLimit(PING_TIMEOUT_MS, undefined, async (signal) => {
      const reply = await fetch(`${address.replace(/\/$/, '')}/ping`, { redirect: 'manual', signal })
      await reply.body?.cancel()
    })
    return undefined
  } catch (error) {
    const { message, name, cause } = error as Error
    if (name === 'TimeoutError') return `no answer within ${PING_TIMEOUT_MS / 1000} s`
    return cause instanceof Error && cause.message ? cause.message : message
  }
}
