/** Whether a client has a version of a reply that the handler makes only if it must. */
import type { IncomingMessage } from 'node:http'
import { isKnown, tagOf } from '../../core/http/reply-cache.ts'

/** @param version  as given to `bytes` @param headers  of the request */
export const hasVersion = (headers: IncomingMessage['headers'], version: string): boolean =>
  isKnown({ headers }, tagOf(version))
