/** Turns anything thrown into status, headers and body: the only file that knows the statuses of error codes. */
import { type AppError, type ErrorCode, errors, isAppError, MOST_FIELDS, withoutPaths } from '../base/error.ts'
import { saidOf, type Words } from '../base/say.ts'
import { isDiskFull } from '../full-disk.ts'

export interface Fault {
  status: number
  headers: Record<string, string>
  body: string
  /** A defect in the program: the log gets every detail, the client none. */
  isDefect: boolean
}

/** @param headers  of the request, in lower case */
export type FaultForm = (fault: Fault, headers: Readonly<Record<string, string | string[] | undefined>>) => Fault

export const STATUS: Record<ErrorCode, number> = {
  bad_request: 400,
  not_authenticated: 401,
  invalid_token: 401,
  permission_denied: 403,
  csrf_failed: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  invalid_range: 416,
  unprocessable: 422,
  throttled: 429,
  internal_error: 500,
  unavailable: 503,
}

const RETRY_SECONDS = 10
/** A message may repeat what the client sent, so it is cut. */
const LONGEST_MESSAGE = 1000
const LONGEST_PATH = 500

export function toFault(thrown: unknown): Fault {
  if (!isAppError(thrown) && isDiskFull(thrown))
    return toFault(errors.unavailable('A disk of the server is full: free some space on it', { cause: thrown }))
  // An external plugin may throw an unknown code: that is a defect in the plugin.
  if (!isAppError(thrown) || !(thrown.code in STATUS) || thrown.code === 'internal_error') {
    return {
      status: 500,
      headers: {},
      body: errorBody(
        'internal_error',
        'Something went wrong on the server; its log has the details under the request id of this reply',
      ),
      isDefect: true,
    }
  }
  // An external plugin may bring its own, older copy of the class.
  const { fields, extra } = thrown.details ?? {}
  const { code, words = thrown.message, rules = fields } = thrown
  return {
    status: STATUS[code],
    headers: headersOf(thrown),
    body: errorBody(code, words, rules, extra),
    isDefect: false,
  }
}

/** The one error shape, contract 2.1. */
export function errorBody(
  code: ErrorCode,
  message: Words,
  fields: Record<string, Words> = {},
  extra?: Record<string, unknown>,
): string {
  const paths = Object.keys(fields).slice(0, MOST_FIELDS)
  const { texts, said } = saidOf([message, ...paths.map((path) => fields[path]!)], (text) =>
    withoutPaths(text.slice(0, LONGEST_MESSAGE)),
  )
  const [text, ...rules] = texts
  return JSON.stringify({
    ...extra,
    detail: text,
    message: text,
    error: text,
    code,
    ...(paths.length > 0 && {
      fields: Object.fromEntries(paths.map((path, at) => [path.slice(0, LONGEST_PATH), rules[at]])),
    }),
    said,
  })
}

function headersOf({ code, details = {} }: AppError): Record<string, string> {
  const headers: Record<string, string> = {}
  if (STATUS[code] === 401) headers['WWW-Authenticate'] = 'Token'
  if (details.allow) headers['Allow'] = details.allow.join(', ')
  if (details.retryAfterSeconds !== undefined || code === 'unavailable' || code === 'throttled')
    headers['Retry-After'] = String(Math.max(1, Math.ceil(details.retryAfterSeconds ?? RETRY_SECONDS)))
  return headers
}

/** The same error with further top-level keys in its body, which do not replace its own. */
export function withExtra(thrown: unknown, extra: Record<string, unknown>): unknown {
  if (isAppError(thrown)) Object.assign(thrown.details, { extra: { ...extra, ...thrown.details.extra } })
  return thrown
}
