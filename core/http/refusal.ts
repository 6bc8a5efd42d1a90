/** Ids of requests, and the answer to what never becomes one: malformed bytes, or a request that is dropped early. */
import type { ErrorCode } from '../base/error.ts'
import { errorBody } from './fault.ts'

/** Distinguishes the ids of this process from those of earlier ones. */
const LIFE = process.hrtime.bigint().toString(36).slice(-6)
let count = 0

export const nextRequestId = (): string => `${LIFE}-${(++count).toString(36)}`

/** After it, the connection is closed: what follows on it is not to be trusted. */
export function refusalOf(code: ErrorCode, text: string): { headers: Record<string, string | number>; body: string } {
  const body = errorBody(code, text)
  return {
    body,
    headers: {
      'Content-Type': 'application/json; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Request-Id': nextRequestId(),
      'Content-Length': Buffer.byteLength(body),
      Connection: 'close',
    },
  }
}
