/** Which other origins may read replies: browser extensions, and the origins in the settings. Never with cookies. */
import type { IncomingMessage } from 'node:http'

type Headers = Readonly<Record<string, string>>

const EXTENSION = /^(moz|chrome|safari-web)-extension:\/\/[^/\s]+$/
const METHODS = 'GET, POST, PUT, PATCH, DELETE, OPTIONS'
/** `mode` is a header that the browser extension really sends. */
const HEADERS =
  'accept, authorization, content-type, x-csrftoken, x-api-form, if-none-match, user-agent, x-requested-with, mode'
const REMEMBERED_SECONDS = '600'

function allowedOrigin(request: IncomingMessage, origins: readonly string[]): string | undefined {
  const { origin } = request.headers
  return origin !== undefined && (EXTENSION.test(origin) || origins.includes(origin)) ? origin : undefined
}

/** @param own  further reply headers that the other origin may read */
export function corsHeaders(request: IncomingMessage, origins: readonly string[], own: Headers = {}): Headers {
  const origin = allowedOrigin(request, origins)
  if (origin === undefined) return { Vary: 'Origin' }
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': ['ETag', ...Object.keys(own)].join(', '),
  }
}

export function preflightHeaders(request: IncomingMessage, origins: readonly string[]): Headers | undefined {
  if (allowedOrigin(request, origins) === undefined) return undefined
  return {
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': HEADERS,
    'Access-Control-Max-Age': REMEMBERED_SECONDS,
  }
}
