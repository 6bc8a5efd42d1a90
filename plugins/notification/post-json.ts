/**
 * Sends a message as JSON by POST: `json://host/path`, `jsons://` (the same over TLS), or the http(s) URL of a webhook.
 */
import { errors, say } from 'archivolt'
import type { OutgoingMessage } from './carrier.ts'

/**
 * The request for a URL. `user:password@` becomes basic authentication, and `?+name=value` a header; the rest is
 * unchanged.
 * @throws bad_request  not a URL
 */
export function toRequest(text: string): { url: string; headers: Record<string, string> } {
  const plain = text.replace(/^json(s?):\/\//i, 'http$1://')
  if (!URL.canParse(plain)) throw errors.badRequest('The URL of the outgoing message is malformed')
  const url = new URL(plain)
  const headers: Record<string, string> = { 'Content-Type': 'application/json' }
  if (url.username || url.password) {
    const login = `${decoded(url.username)}:${decoded(url.password)}`
    headers['Authorization'] = `Basic ${Buffer.from(login).toString('base64')}`
    url.username = ''
    url.password = ''
  }
  // URLSearchParams would decode the plus as a space.
  const query = url.search.slice(1).split('&').filter(Boolean)
  for (const pair of query.filter((part) => part.startsWith('+'))) {
    const [name = '', ...rest] = pair.slice(1).split('=').map(decoded)
    const value = rest.join('=')
    if (/^[A-Za-z0-9-]{1,100}$/.test(name) && !/[\r\n\0]/.test(value)) headers[name] = value
  }
  url.search = query.filter((part) => !part.startsWith('+')).join('&')
  return { url: url.href, headers }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw errors.badRequest('The URL of the outgoing message has a malformed % sequence', { cause })
  }
}

export async function postJson(target: string, message: OutgoingMessage, signal: AbortSignal): Promise<void> {
  const { url, headers } = toRequest(target)
  const body = JSON.stringify({
    version: '1.0',
    title: message.title,
    message: message.body,
    attachments: [],
    type: message.kind,
  })
  const reply = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' }).catch(
    (cause: unknown) => {
      throw errors.unavailable(say`The receiver could not be reached: ${{ reason: reasonOf(cause) }}`, { cause })
    },
  )
  await reply.body?.cancel()
  if (!reply.ok) throw errors.unavailable(say`The receiver answered with status ${{ status: reply.status }}`)
}

/** The reason for "fetch failed", which is in the error's cause. */
function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return 'unknown reason'
  const beneath = thrown.cause
  if (beneath instanceof Error) return 'code' in beneath ? String(beneath.code) : beneath.message
  return thrown.message
}
