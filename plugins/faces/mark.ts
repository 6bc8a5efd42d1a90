/** A short text that differs where the given one does. */
import { createHash } from 'node:crypto'

export const markOf = (text: string | Buffer): string =>
  createHash('sha1').update(text).digest('base64url').slice(0, 12)
