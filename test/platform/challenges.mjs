// The challenges of the loopback platform: media addresses carry an `n`, and those of the best pictures a signature,
// that only who runs the player script can answer. The script is the one that the server's own checks solve; its
// answers are worked out here in other words.

import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'

const PLAYER = new URL('../../plugins/platform/player.js', import.meta.url)
export const PLAYER_PATH = '/s/player/0a1b2c3d/player.js'
/** As the external platform: one old format is given away, the best ones are signed too. */
const PLAIN = new Set(['18'])
const SIGNED = new Set(['136', '247'])
const MOST_OPEN = 10_000

export class Challenges {
  #open = new Map() // n → what a request for media must bring

  /** What the address of a format is told with: `{ n, s }`, or nothing where it is plain. @param isTotal  none is */
  ask(formatId, isTotal) {
    if (!isTotal && PLAIN.has(formatId)) return {}
    const n = randomBytes(6).toString('hex')
    const s = SIGNED.has(formatId) ? randomBytes(20).toString('hex') : undefined
    if (this.#open.size >= MOST_OPEN) this.#open.clear()
    this.#open.set(nAnswer(n), s && signatureAnswer(s))
    return { n, ...(s && { s }) }
  }

  /** Whether a request for this format brings the right answers. */
  isSolved(formatId, isTotal, { n, sig }) {
    return (!isTotal && PLAIN.has(formatId)) || (this.#open.has(n) && this.#open.get(n) === sig)
  }

  /** @param isUnexpected  a script that the solver does not find its way in */
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
