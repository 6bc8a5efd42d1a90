/** pino, with a child per plugin, request and job. Secrets are masked here, whoever logs them. */
import { pino, type DestinationStream, type Logger } from 'pino'

export type Log = Logger

const SECRET_KEYS = ['password', 'token', 'cookie', 'authorization', 'api_key', 'secret', 'current_password']

export function openLog(level: string, destination?: DestinationStream): Log {
  const redact = { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '***' }
  return destination ? pino({ level, redact, base: null }, destination) : pino({ level, redact, base: null })
}
