/** The token provider, as its answers show it: which one, when it last gave a token, and why it did not. */
import { type Clock, epochSeconds } from 'archivolt'
import type { TokenNews } from './child.ts'

/** Epoch seconds; 0: never. */
export interface TokenState {
  address: string
  last_token: number
  /** Why the last ask for one failed; '': it did not. */
  failure: string
  failed: number
}

export class Tokens {
  #clock: Clock
  #address: () => string | undefined
  #state: TokenState = { address: '', last_token: 0, failure: '', failed: 0 }

  constructor(clock: Clock, address: () => string | undefined) {
    this.#clock = clock
    this.#address = address
  }

  hear({ failed }: TokenNews): void {
    const state = this.#current()
    const now = epochSeconds(this.#clock)
    this.#state =
      failed === undefined ? { ...state, last_token: now, failure: '' } : { ...state, failure: failed, failed: now }
  }

  /** undefined: none is set */
  state(): TokenState | undefined {
    return this.#address() === undefined ? undefined : this.#current()
  }

  #current(): TokenState {
    const address = this.#address() ?? ''
    if (this.#state.address !== address) this.#state = { address, last_token: 0, failure: '', failed: 0 }
    return this.#state
  }
}
