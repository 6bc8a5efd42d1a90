/** pino, with a child per plugin, request and job. Secrets are masked here, whoever logs them. */
import { type DestinationStream, destination, type Logger, pino, stdSerializers, stdTimeFunctions } from 'pino'
import { pluginIn } from './error-origin.ts'

export type Log = Logger

const SECRET_KEYS = ['password', 'token', 'cookie', 'authorization', 'api_key', 'secret', 'current_password']
const STDERR = 2

/** One JSON object per line, on stderr by default: stdout is for messages to the person who started the program. */
export function openLog(level: string, to: DestinationStream = destination({ fd: STDERR, sync: true })): Log {
  return pino(
    {
      level,
      redact: { paths: SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '***' },
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: withPlugin },
    },
    to,
  )
}

/** Adds the name of the plugin from which an error comes. */
function withPlugin(thrown: unknown): unknown {
  const told: unknown = stdSerializers.err(thrown as Error)
  const plugin = pluginIn(thrown)
  return plugin === undefined ? told : { plugin, ...(told as object) }
}
