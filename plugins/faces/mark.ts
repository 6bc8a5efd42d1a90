/** A short hash of a text. */
import { createHash } from 'node:crypto'

export const markOf = (text: string | Buffer): string =>
  createHash('sha1').update(text).digest('base64url').slice(0, 12)
