/** One attempt of a delivery: sends the signed message, and reads the receiver's reply within limits. */
import { epochSeconds, isAppError } from 'archivolt'
import type { App } from './app.ts'
import { signatureHeaders } from './signature.ts'
import type { Answer, DeliveryRow, WebhookRow } from './tables.ts'

const WITHIN_SECONDS = 10
const MOST_READ_BYTES = 2000
const MOST_SHOWN = 500
const UNREADABLE =
  'The secret key of this server has changed since this webhook was created: enter its address again, and give it a new secret'

export const isTaken = ({ status }: Pick<Answer, 'status'>): boolean => status !== null && status >= 200 && status < 300

/** Throws only when the signal aborts it: every behavior of the receiver is a result. */
export async function send(
  { url, secret }: Pick<WebhookRow, 'url' | 'secret'>,
  { message_id: id, body }: Pick<DeliveryRow, 'message_id' | 'body'>,
  { app, signal }: { app: Pick<App, 'fetch' | 'clock'>; signal: AbortSignal },
): Promise<Answer> {
  const { clock } = app
  if (url === undefined || secret === undefined)
    return { asked_at: clock.now(), took_ms: 0, status: null, answer: '', error: UNREADABLE }
  const asked = { asked_at: clock.now(), from: clock.steady() }
  const said = await ask(url, secret).catch((error: unknown) => {
    signal.throwIfAborted()
    if (!isAppError(error)) throw error
    return { status: null, answer: '', error: error.message }
  })
  return { ...said, asked_at: asked.asked_at, took_ms: Math.round(clock.steady() - asked.from) }

  async function ask(to: string, by: string): Promise<Pick<Answer, 'status' | 'answer' | 'error'>> {
    const reply = await app.fetch(to, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...signatureHeaders(by, { id, timestamp: epochSeconds(clock), body }),
      },
      body,
      signal,
      withinSeconds: WITHIN_SECONDS,
      maxBytes: MOST_READ_BYTES,
      excess: 'cut',
      redirect: 'manual',
    })
    const { status } = reply
    return { status, answer: shown(await reply.text()), error: isTaken({ status }) ? '' : sentence(status) }
  }
}

const sentence = (status: number): string =>
  status >= 300 && status < 400
    ? `The receiver answered with status ${status}: redirects are not followed, so give the address that it leads to`
    : `The receiver answered with status ${status}`

/** Prepares untrusted text for display: removes control characters. */
const shown = (text: string): string =>
  text
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, MOST_SHOWN)
