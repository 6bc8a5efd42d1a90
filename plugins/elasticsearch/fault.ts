/** Classifies errors of Elasticsearch and of the connection, as sentences for people, without credentials. */
import { type AppError, errors, say, type Words } from 'archivolt'

/**
 * `away`: no reply. `red`: parts of the data are missing. `full`: read-only. `denied`: our account is refused.
 * `certificate`, `product`: not a server that we may use. `busy`: overloaded. `forbidden`: our account lacks a right.
 * `lost`: an index does not exist.
 */
type FaultKind = 'away' | 'red' | 'full' | 'denied' | 'certificate' | 'product' | 'busy' | 'forbidden' | 'lost'

export interface Fault {
  kind: FaultKind
  /** For clients and the log. */
  says: Words
  /** The message of the server or socket, for the log. */
  why: string
  /** The name of the index, if it is lost. */
  index?: string
}

/** An error in the server's format, from the body of a reply or an item of a bulk request. */
interface ServerError {
  type: string
  reason: string
}

const SENTENCES: Record<Exclude<FaultKind, 'lost'>, string> = {
  away: 'Elasticsearch does not respond; try again in a few seconds',
  red: 'Elasticsearch responds, but parts of the data are unavailable; try again in a few seconds',
  full: 'Elasticsearch accepts no writes because its disk is too full: free some space there; no restart is needed',
  denied:
    'Elasticsearch refuses the account: check AV_ELASTICSEARCH_USERNAME and AV_ELASTICSEARCH_PASSWORD, or AV_ELASTICSEARCH_API_KEY',
  certificate:
    'The certificate of Elasticsearch is not trusted: set AV_ELASTICSEARCH_CA to the file with the certificate that signed it, and use the host name for which it was issued',
  product:
    'The server at AV_ELASTICSEARCH_URL is not Elasticsearch: Archivolt can store documents only in Elasticsearch 8',
  busy: 'Elasticsearch is overloaded; try again in a few seconds',
  forbidden:
    'The account of AV_ELASTICSEARCH_USERNAME or AV_ELASTICSEARCH_API_KEY may not do this in Elasticsearch: give it all rights on indexes with the prefix in AV_PREFIX, and the cluster right "monitor"; for snapshots also "cluster:admin/snapshot/*" and "cluster:admin/repository/*"',
}

/** Whether the fault may end without action. A missing right does not. */
export const passesByWaiting = ({ kind }: Fault): boolean => kind !== 'forbidden'

export const toAppError = ({ kind, says, why }: Fault): AppError =>
  errors.unavailable(says, { retryAfterSeconds: RETRY_AFTER_SECONDS[kind] ?? 10, cause: new Error(why) })
const RETRY_AFTER_SECONDS: Partial<Record<FaultKind, number>> = {
  busy: 5,
  full: 60,
  denied: 60,
  certificate: 60,
  product: 60,
  forbidden: 60,
  lost: 60,
}

const fault = (kind: keyof typeof SENTENCES, why: string, says = SENTENCES[kind]): Fault => ({ kind, says, why })

/**
 * A reply of Elasticsearch that is not an outage: a defect in our code or in a document. Contains no headers or bodies
 * of the request.
 */
export class ElasticError extends Error {
  override readonly name = 'ElasticError'
  readonly statusCode: number
  readonly type: string
  readonly reason: string

  constructor(statusCode: number, { type, reason }: ServerError) {
    super(`Elasticsearch answers ${statusCode} ${type}: ${reason}`)
    this.statusCode = statusCode
    this.type = type
    this.reason = reason
  }
}

/** Thrown for an item of a bulk request if the server, not the document, is at fault: it ends the bulk request. */
export class FaultyItem extends Error {
  override readonly name = 'FaultyItem'
  readonly fault: Fault

  constructor(found: Fault) {
    super(found.why)
    this.fault = found
  }
}

interface Answered {
  name: string
  message: string
  statusCode?: number
  meta?: { statusCode?: number; body?: unknown }
}

const CERTIFICATE = /certificate|altnames|SSL routines|unable to (verify|get)|CERT_|wrong version number|EPROTO/i

/** @returns the kind of outage; undefined: the error is not an outage */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof FaultyItem) return error.fault
  if (!(error instanceof Error)) return undefined
  const { name, message, meta } = error as Answered
  if (name === 'ProductNotSupportedError') return fault('product', message)
  if (name === 'TimeoutError' || name === 'NoLivingConnectionsError') return fault('away', message)
  // If a name has several addresses, the socket's error may have no message.
  if (name === 'ConnectionError')
    return fault(CERTIFICATE.test(message) ? 'certificate' : 'away', message || 'no connection')
  if (name === 'DeserializationError') return fault('away', 'the answer is cut off or is not JSON')
  if (name !== 'ResponseError') return undefined
  const status = meta?.statusCode ?? 0
  const said = serverErrorOf(meta?.body)
  if (said) return faultOfServer(status, said)
  if (status === 401) return fault('denied', `${status}`)
  if (status === 403) return fault('forbidden', `${status}`)
  if (status === 429) return fault('busy', `${status}`)
  return status >= 500 ? fault('away', `something before it answers ${status}`) : undefined
}

/** @param index  its name, or several separated by commas */
export const lostIndex = (index: string, why: string): Fault => ({
  kind: 'lost',
  says: say`Elasticsearch no longer has the index ${{ names: index }}: restore it there, or restart Archivolt, which then says how to get the documents back`,
  ...{ why, index },
})

/** The same for the server's own error object, as in an item of a bulk request. */
export function faultOfServer(status: number, { type, reason }: ServerError): Fault | undefined {
  const why = `${status} ${type}: ${reason}`.slice(0, 500)
  if (type === 'cluster_block_exception') {
    if (/flood|read-only-allow-delete|TOO_MANY_REQUESTS\/12|FORBIDDEN\/12/i.test(reason)) return fault('full', why)
    if (/FORBIDDEN\/(5|6|8|9|13)\//.test(reason))
      return fault(
        'full',
        why,
        'Elasticsearch accepts no writes because somebody has made its indexes read-only: remove that block; no restart is needed',
      )
    return fault('red', why)
  }
  if (type === 'index_closed_exception') return fault('red', why)
  if (type === 'index_not_found_exception') return lostIndex(/\[([^[\]]+)\]/.exec(reason)?.[1] ?? '', why)
  if (status === 401) return fault('denied', why)
  if (status === 403 && type === 'security_exception') return fault('forbidden', why)
  if (status === 429) return fault('busy', why)
  return status === 502 || status === 503 || status === 504 ? fault('red', why) : undefined
}

/** The error in a reply; of several causes the first, which contains the reason. */
function serverErrorOf(body: unknown): ServerError | undefined {
  const said = (body as { error?: unknown } | undefined)?.error
  if (typeof said !== 'object' || said === null) return undefined
  const {
    type,
    reason,
    root_cause: causes,
  } = said as { type?: unknown; reason?: unknown; root_cause?: Array<{ type?: unknown; reason?: unknown }> }
  const first = causes?.[0]
  const isVague = type === 'search_phase_execution_exception' && first?.type !== undefined
  return {
    type: String((isVague ? first.type : type) ?? 'unknown'),
    reason: String((isVague ? first.reason : reason) ?? ''),
  }
}

/** An error of the client without the request, its address and credentials. */
export function withoutRequest(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ResponseError') return error
  // Recognized by name, because the client's classes are loaded only if it is configured.
  const { meta } = error as unknown as Answered
  return new ElasticError(meta?.statusCode ?? 0, serverErrorOf(meta?.body) ?? { type: 'unknown', reason: '' })
}
