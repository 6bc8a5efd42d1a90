/** Makes names of snapshots. */
import { randomInt } from 'node:crypto'

const RANDOM_LENGTH = 22
const RANDOM_LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `<prefix>_<occasion>_<22 random characters>`. */
export function snapshotName(prefix: string, occasion: 'daily' | 'upgrade'): string {
  return `${prefix}_${occasion}_${Array.from({ length: RANDOM_LENGTH }, () => RANDOM_LETTERS[randomInt(RANDOM_LETTERS.length)]).join('')}`
}
