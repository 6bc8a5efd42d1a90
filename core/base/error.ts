/** `AppError`, thrown for expected failures: a code, a sentence, details. Its HTTP status: `core/http/fault.ts`. */
import { atPath, inEnglish, type Words } from './say.ts'

export type ErrorCode =
  | 'bad_request'
  | 'not_authenticated'
  | 'invalid_token'
  | 'permission_denied'
  | 'csrf_failed'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'unsupported_media_type'
  | 'invalid_range'
  | 'conflict'
  | 'unprocessable'
  | 'throttled'
  | 'unavailable'
  | 'internal_error'

/** A request with 100,000 wrong keys gets a reply about the first ones only. */
export const MOST_FIELDS = 20

interface ErrorDetails {
  /** Body path or query name → what is wrong with it. The first `MOST_FIELDS` are sent. */
  fields?: Record<string, string>
  /** Further top-level keys of the error body, such as `{ data: false }`. */
  extra?: Record<string, unknown>
  /** When the caller may try again; becomes `Retry-After`. */
  retryAfterSeconds?: number
  /** Methods the path has, for `method_not_allowed`. */
  allow?: string[]
}

export interface ErrorOptions extends Omit<ErrorDetails, 'fields'> {
  fields?: Record<string, Words>
  /** The underlying error; goes to the log, never to the client. */
  cause?: unknown
}

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly details: ErrorDetails
  /** Translatable form of `message`. */
  readonly words: Words
  /** Translatable form of `details.fields`. */
  readonly rules: Record<string, Words> | undefined

  constructor(code: ErrorCode, message: Words, options: ErrorOptions = {}) {
    const { cause, fields, ...details } = options
    super(inEnglish(message), cause === undefined ? undefined : { cause })
    this.code = code
    this.words = message
    this.rules = fields
    this.details = fields ? { ...details, fields: mapped(fields, inEnglish) } : details
  }
}

const mapped = <From, To>(all: Record<string, From>, change: (one: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(all).map(([key, one]) => [key, change(one)]))

/** By shape, not by class: an external plugin may load its own copy of this file. @param code  default: any */
export function isAppError(thrown: unknown, code?: ErrorCode): thrown is AppError {
  return (
    thrown instanceof Error &&
    thrown.name === 'AppError' &&
    'code' in thrown &&
    (code === undefined || thrown.code === code)
  )
}

const raise = (code: ErrorCode) => (message: Words, options?: ErrorOptions) => new AppError(code, message, options)

/** `throw errors.conflict('A restore is running; try again when it has ended')`: one function per meaning. */
export const errors = {
  /** 400: the form of the request is wrong. `fields` has the paths of the wrong values. */
  badRequest: raise('bad_request'),
  /** 400: one wrong value, by its path, and the rule that it breaks. */
  wrongField: (path: string, rule: Words) =>
    new AppError('bad_request', atPath(path, rule), { fields: { [path]: rule } }),
  notAuthenticated: raise('not_authenticated'),
  invalidToken: (options?: ErrorOptions) => new AppError('invalid_token', 'Invalid token.', options),
  permissionDenied: raise('permission_denied'),
  csrfFailed: raise('csrf_failed'),
  /** 403: the browser's headers name another site, or a proxy has changed them. */
  crossSite: () =>
    new AppError(
      'csrf_failed',
      'This request was sent by a page of another site. If it was our own page, a proxy has changed the header Host: let it pass Host on unchanged, or set X-Forwarded-Host and AV_TRUSTED_PROXIES',
    ),
  /** 404: `errors.notFound('map', id)` says "map not found". The id is not repeated to the client. */
  notFound: (what: string, id?: string, options: ErrorOptions = {}) =>
    new AppError('not_found', `${what} not found`, id === undefined ? options : { cause: `id ${id}`, ...options }),
  methodNotAllowed: (allow: string[]) =>
    new AppError('method_not_allowed', `Allowed here: ${allow.join(', ')}`, { allow }),
  bodyTooLarge: raise('body_too_large'),
  unsupportedMediaType: raise('unsupported_media_type'),
  invalidRange: raise('invalid_range'),
  /** 409: valid, but the current state forbids it. */
  conflict: raise('conflict'),
  /** 422: well-formed input whose content cannot be used. */
  unprocessable: raise('unprocessable'),
  throttled: raise('throttled'),
  /** 503: something external (platform, index server, disk) is not available now; jobs are retried. */
  unavailable: raise('unavailable'),
}

/** Error messages of the system, Python and child processes that contain paths of this machine. */
const SYSTEM_SAYS = /\b(E[A-Z][A-Z0-9]+: [^'\n]{1,200}?),? [a-z]+ '[^\n]*'/g
const PYTHON_SAYS = /(\[Errno \d+\] [^'\n]{1,200}): '[^\n]*'/g
const SPAWN_SAYS = /\bspawn \S+ (E[A-Z]+)/g
/** Two or more folders of an absolute path, outside a URL. Not API paths, which show nothing of this machine. */
const ABSOLUTE_PATH = /(?<![\w:/.])\/(?!api\/)(?:[^\s/'":,;]{1,255}\/){2,50}/g

const LONGEST_SAID = 4000

/** Removes paths of this machine from one of our sentences that quotes a system error. The log has the full text. */
export const withoutPaths = (text: string): string =>
  text.replace(SYSTEM_SAYS, '$1').replace(PYTHON_SAYS, '$1').replace(SPAWN_SAYS, 'spawn $1')

/** The message of an error without paths: a foreign error may contain paths in any form. */
export function saidBy(error: unknown): string {
  const text = withoutPaths((error instanceof Error ? error.message : String(error)).slice(0, LONGEST_SAID))
  return isAppError(error) ? text : text.replace(ABSOLUTE_PATH, '…/')
}

/** The same, as translatable words if the error is ours. */
export const wordsOf = (error: unknown): Words => (isAppError(error) && error.words) || saidBy(error)
