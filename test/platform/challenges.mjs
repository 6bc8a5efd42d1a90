// The challenges of the loopback platform: media addresses carry an `n`, and those of the best pictures a signature,
// that only who runs the player script can answer. The script is the one that the server's own checks solve; its
// answers are worked out here in other words.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

const PLAYER = new URL('../../plugins/platform/player.js', import.meta.url)
export const PLAYER_PATH = '/s/player/0a1b2c3d/player.js'
/** As on the external platform: one old format has no challenge, and the best ones also have a signature. */
const PLAIN = new Set(['18'])
const SIGNED = new Set(['136', '247'])
const MOST_OPEN = 10_000

export class Challenges {
  #open = new Map() // n → the answers that a request for media must contain

  /**
   * The challenge of a format's address: `{ n, s }`, or nothing if it has none.
   * @param isTotal  every format has one
   */
  ask(formatId, isTotal) {
    if (!isTotal && PLAIN.has(formatId)) return {}
    const n = randomBytes(6).toString('hex')
    const s = SIGNED.has(formatId) ? randomBytes(20).toString('hex') : undefined
    if (this.#open.size >= MOST_OPEN) this.#open.clear()
    this.#open.set(nAnswer(n), s && signatureAnswer(s))
    return { n, ...(s && { s }) }
  }

  /** Whether a request for this format contains the right answers. */
  isSolved(formatId, isTotal, { n, sig }) {
    return (!isTotal && PLAIN.has(formatId)) || (this.#open.has(n) && this.#open.get(n) === sig)
  }

  /** @param isUnexpected  a script that the solver cannot parse */
  player(isUnexpected) {
    return isUnexpected ? 'let answer = (n) => n\n' : readFileSync(PLAYER, 'utf8')
  }
}

function nAnswer(n) {
  const backwards = [...n].toReversed().join('')
  return `${backwards.slice(3)}${backwards.slice(0, 3)}-${n.length}`
}

function signatureAnswer(s) {
  return `${s.slice(2, -1)}${s[0]}`
}
