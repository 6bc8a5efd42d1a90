/** Signs deliveries according to Standard Webhooks, for which receivers find libraries. */
import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32

export const newSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64')

interface Signed {
  id: string
  /** The time of this attempt, in epoch seconds: receivers reject old ones, which prevents replays. */
  timestamp: number
  body: string
}

export function signatureHeaders(secret: string, { id, timestamp, body }: Signed): Record<string, string> {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${signature}` }
}
