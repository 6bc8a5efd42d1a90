/** The token provider: which one, whether it answers, when it last gave a token, and why it did not. */
import { type Clock, epochSeconds, type Static, Type, withLimit } from 'archivolt'
import type { TokenNews } from './child.ts'

const LOOK_MS = 3000
/** Somebody who has started it again need not wait long to see that. */
const LOOK_AGAIN_MS = 10_000

/** `untried`: it answers, and nobody has needed a token of it yet. */
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

export class Tokens {
  #clock: Clock
  #address: () => string | undefined
  #known: Known = { address: '', lastToken: 0, failure: undefined }
  #looked: { at: string; untilMs: number; done: Promise<void> } | undefined

  /** @param address  undefined: none is set */
  constructor(clock: Clock, address: () => string | undefined) {
    this.#clock = clock
    this.#address = address
  }

  /** What came of asking it for a token. */
  hear({ failed, isAway = false }: TokenNews): void {
    const known = this.#current()
    if (failed !== undefined) known.failure = { message: failed, isAway }
    else Object.assign(known, { lastToken: epochSeconds(this.#clock), failure: undefined })
  }

  /** Looks whether it answers at all. */
  look(): Promise<void> {
    const address = this.#address()
    if (address === undefined) return Promise.resolve()
    const now = this.#clock.steady()
    if (this.#looked?.at !== address || now >= this.#looked.untilMs)
      this.#looked = { at: address, untilMs: now + LOOK_AGAIN_MS, done: this.#lookAt(address) }
    return this.#looked.done
  }

  health(): TokenHealth {
    if (this.#address() === undefined) return { state: 'none', address: '', last_token: 0, message: '' }
    const { address, lastToken, failure } = this.#current()
    const state = failure ? 'failed' : lastToken > 0 ? 'works' : 'untried'
    return { state, address, last_token: lastToken, message: failure?.message ?? '' }
  }

  async #lookAt(address: string): Promise<void> {
    const fault = await faultOf(address)
    const known = this.#current()
    if (known.address !== address) return
    if (fault !== undefined) known.failure = { message: fault, isAway: true }
    else if (known.failure?.isAway) known.failure = undefined
  }

  #current(): Known {
    const address = this.#address() ?? ''
    if (this.#known.address !== address) this.#known = { address, lastToken: 0, failure: undefined }
    return this.#known
  }
}

/** Why it does not answer; undefined: it does, with whatever. */
async function faultOf(address: string): Promise<string | undefined> {
  try {
    await withLimit(LOOK_MS, undefined, async (signal) => {
      const reply = await fetch(`${address.replace(/\/$/, '')}/ping`, { redirect: 'manual', signal })
      await reply.body?.cancel()
    })
    return undefined
  } catch (error) {
    const { message, name, cause } = error as Error
    if (name === 'TimeoutError') return `no answer within ${LOOK_MS / 1000} s`
    return cause instanceof Error && cause.message ? cause.message : message
  }
}
