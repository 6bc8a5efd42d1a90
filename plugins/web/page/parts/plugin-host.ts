/**
 * The page's side of a plugin page or button: answers the requests of its frame with the rights of the signed-in
 * account, limited to what the manifest allows. Messages from the frame are untrusted.
 */
import { match } from '../browser/router.ts'
import type { Reader } from '../plugin-page/interface.ts'
import { type Begin, type FromFrame, HELLO, type Refused, type ToFrame } from '../plugin-page/messages.ts'
import { ask, Failure, type Query, toFailure } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { PluginPage } from '../server/records.ts'
import { account, isAdmin, mayDownload } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

/** Maximum number of concurrent requests. */
const MOST_QUESTIONS = 16
/** Maximum number of messages per second. The frame's own script sends fewer, whatever the plugin does. */
const MOST_MESSAGES = 300
const LONGEST_PATH = 2000
const LONGEST_SAYING = 300
const HIGHEST = 100_000
const ALIVE_MS = 1000
/** Number of unanswered pings after which the frame counts as hung. */
const PATIENCE = 4

interface Parts {
  frame: HTMLIFrameElement
  page: PluginPage
  begin: () => Omit<Begin, 'kind'>
  /** Opens an address of the page. */
  navigate: (to: string) => void
  grow?: (height: number) => void
  /** Only for a button: commands to the player. */
  player?: PlayerSide
  /** Called with the error that a script in the frame has thrown. */
  failed: (message: string) => void
  /** Called when the frame stops responding, and when it responds again. */
  stuck: (isStuck: boolean) => void
  /** Called when the frame was closed because it sent too many messages. */
  flooded: () => void
}

interface PlayerSide {
  say: (text: string) => void
  /** In seconds, limited to the duration of the video. */
  jump: (seconds: number) => void
  done: () => void
}

export type Host = ReturnType<typeof openHost>

export function openHost(parts: Parts) {
  const { frame, page } = parts
  const ending = new AbortController()
  const { signal } = ending
  const answer = openAnswers(tell, signal)
  let port: MessagePort | undefined
  let heard = 0
  let unanswered = 0

  function greet({ source, data }: MessageEvent): void {
    if (source !== frame.contentWindow || isTooMuch()) return
    // Answered only once: a later document in the frame is a different one.
    if (port || data !== HELLO) return
    const channel = new MessageChannel()
    port = channel.port1
    port.onmessage = (event: MessageEvent<unknown>) => hear(event.data)
    const begin: Begin = { kind: 'begin', ...parts.begin() }
    frame.contentWindow!.postMessage(begin, '*', [channel.port2])
  }

  function hear(data: unknown): void {
    if (isTooMuch()) return
    const message = (data ?? {}) as Partial<FromFrame> & Record<string, unknown>
    if (message.kind === 'alive') return alive()
    if (message.kind === 'height') return parts.grow?.(Math.max(0, Math.min(HIGHEST, Number(message.height) || 0)))
    if (message.kind === 'failed') return parts.failed(String(message.message).slice(0, 500))
    if (message.kind === 'navigate' && isAddress(message.to)) return parts.navigate(message.to)
    if (message.kind === 'key' && typeof message.key === 'string')
      return void dispatchEvent(new KeyboardEvent('keydown', { key: message.key.slice(0, 1) }))
    if (message.kind === 'say') return parts.player?.say(String(message.text).slice(0, LONGEST_SAYING))
    if (message.kind === 'jump' && Number.isFinite(message.seconds))
      return parts.player?.jump(Math.max(0, Number(message.seconds)))
    if (message.kind === 'done') return parts.player?.done()
    if (message.kind === 'ask') return void answer(message.id, () => askApi(message, page, signal))
    if (message.kind === 'picture') return void answer(message.id, () => pictureAt(message.path, signal))
  }

  function isTooMuch(): boolean {
    if (++heard <= MOST_MESSAGES) return false
    close()
    parts.flooded()
    return true
  }

  function alive(): void {
    if (unanswered >= PATIENCE) parts.stuck(false)
    unanswered = 0
  }

  function tell(message: ToFrame): void {
    port?.postMessage(message)
  }

  const timer = setInterval(() => {
    heard = 0
    if (document.hidden) return
    if (++unanswered === PATIENCE) parts.stuck(true)
    tell({ kind: 'alive' })
  }, ALIVE_MS)

  function close(): void {
    clearInterval(timer)
    removeEventListener('message', greet)
    ending.abort()
    port?.close()
    port = undefined
  }

  addEventListener('message', greet)
  return { tell, close }
}

/**
 * Limits the number of concurrent requests.
 * @returns a function that answers with the result or the error of `find`
 */
function openAnswers(tell: (message: ToFrame) => void, signal: AbortSignal) {
  let questions = 0
  return async (id: unknown, find: () => Promise<unknown>): Promise<void> => {
    const told = { kind: 'answer', id: Number(id) } as const
    if (questions >= MOST_QUESTIONS) return tell({ ...told, refused: tooMany() })
    questions++
    try {
      tell({ ...told, value: await find() })
    } catch (error) {
      if (!signal.aborted) tell({ ...told, refused: toRefused(error) })
    } finally {
      questions--
    }
  }
}

/** Sends the request with the session of the account, so the server refuses whatever the account may not do. */
async function askApi(
  { method, path, query, body }: Record<string, unknown>,
  { asks }: PluginPage,
  signal: AbortSignal,
): Promise<unknown> {
  if (!isAllowed(asks, method, path)) throw notAllowed(path)
  return ask(method as 'GET', path as string, {
    ...(isRecord(query) && { query: plain(query) }),
    ...(isRecord(body) && { body }),
    // A writing request that has begun is not aborted.
    ...(method === 'GET' && { signal }),
  })
}

async function pictureAt(path: unknown, signal: AbortSignal): Promise<Blob> {
  if (typeof path !== 'string' || !isPlain(path) || !path.startsWith('/cache/')) throw notAllowed(path)
  const response = await fetch(under(path), { signal })
  if (!response.ok) throw new Failure(response.status, {})
  return response.blob()
}

/** The signed-in account, as plugins see it. */
export const readerNow = (): Reader => ({
  username: account.peek()?.username ?? '',
  isAdmin: isAdmin.peek(),
  mayDownload: mayDownload.peek(),
})

class Refusal extends Error {}

const notAllowed = (path: unknown): Refusal => new Refusal(t('plugin.notAllowed', { path: String(path).slice(0, 200) }))

const toRefused = (error: unknown): Refused => {
  if (error instanceof Refusal) return { message: error.message, status: 403, code: 'permission_denied', fields: {} }
  const { message, status, code, fields } = toFailure(error)
  return { message, status, code, fields }
}

const tooMany = (): Refused => ({ message: t('failure.throttledSoon'), status: 429, code: 'throttled', fields: {} })

/** @param asks  routes such as `GET /api/note/:noteId/` */
const isAllowed = (asks: readonly string[], method: unknown, path: unknown): boolean =>
  typeof path === 'string' &&
  isPlain(path) &&
  asks.some((one) => {
    const [allowed, pattern = ''] = one.split(' ')
    return allowed === method && match(pattern, path) !== undefined
  })

/** Whether a path resolves to itself: without a host, a query, or `..`. */
const isPlain = (path: string): boolean =>
  path.length <= LONGEST_PATH && URL.canParse(path, location.origin) && new URL(path, location.origin).pathname === path

const isAddress = (to: unknown): to is string =>
  typeof to === 'string' && to.length <= LONGEST_PATH && isPlain(to.split('?')[0]!) && to.startsWith('/')

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const plain = (query: Record<string, unknown>): Query =>
  Object.fromEntries(
    Object.entries(query).flatMap(
      ([name, value]): Array<[string, string | number | boolean]> =>
        typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? [[name, value]] : [],
    ),
  )
