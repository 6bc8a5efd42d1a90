/**
 * Runs in the frame of a plugin page or button, before its module: passes the module's requests to the surrounding
 * page, and reports its errors.
 */
import { toAge, toBytes, toClock, toDay, toMoment, toNumber, toSpan } from '../texts/format.ts'
import { openComponents } from './components.ts'
import type { Api, Page, Player, Press, Query, Start } from './interface.ts'
import { type Begin, type FromFrame, HELLO, type Refused, type ToFrame } from './messages.ts'

const named = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)!.content

const base = named('archivolt-base')
const under = (path: string): string => base + path.replace(/^\//, '')

interface Waiting {
  resolve: (value: unknown) => void
  reject: (reason: Error) => void
}

/** Maximum number of concurrent requests; further ones wait here. */
const MOST_QUESTIONS = 8
/** Maximum number of other messages per second; further ones, such as those of a loop, are dropped. */
const MOST_TOLD = 50

type Question = Omit<Extract<FromFrame, { kind: 'ask' }>, 'id'> | Omit<Extract<FromFrame, { kind: 'picture' }>, 'id'>

function run(port: MessagePort, { reader, query, playing }: Begin): void {
  const waiting = new Map<number, Waiting>()
  const listeners: Array<Parameters<Page['onQuery']>[0]> = []
  let asked = 0
  const later: FromFrame[] = []
  let underWay = 0
  let told = 0

  function tell(message: FromFrame): void {
    if (++told > MOST_TOLD) return
    if (told === 1) setTimeout(() => (told = 0), 1000)
    port.postMessage(message)
  }

  function askNext(): void {
    const next = underWay < MOST_QUESTIONS ? later.shift() : undefined
    if (!next) return
    underWay++
    port.postMessage(next)
  }

  const ask = (question: Question): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++asked
      waiting.set(id, { resolve, reject })
      later.push({ ...question, id } as FromFrame)
      askNext()
    })

  function answered({ id, value, refused }: Extract<ToFrame, { kind: 'answer' }>): void {
    const one = waiting.get(id)
    waiting.delete(id)
    underWay--
    askNext()
    if (refused) one?.reject(toRefusal(refused))
    else one?.resolve(value)
  }

  const send = <Reply>(method: string, path: string, body?: object, asking?: Query): Promise<Reply> =>
    ask({ kind: 'ask', method, path, ...(asking && { query: asking }), ...(body && { body }) }) as Promise<Reply>

  const api: Api = {
    get: (path, asking) => send('GET', path, undefined, asking),
    post: (path, body, asking) => send('POST', path, body, asking),
    put: (path, body) => send('PUT', path, body),
    remove: (path, body) => send('DELETE', path, body),
  }
  let current = query
  const page: Page = {
    root: document.body.appendChild(document.createElement('main')),
    ...{ api, reader },
    get query() {
      return current
    },
    onQuery: (act) => void listeners.push(act),
    navigate: (to) => tell({ kind: 'navigate', to }),
    texts: {
      ...{ number: toNumber, bytes: toBytes, span: toSpan, clock: toClock, day: toDay, moment: toMoment },
      age: (when) => toAge(when),
    },
    components: openComponents(
      async (path) => URL.createObjectURL((await ask({ kind: 'picture', path })) as Blob),
      under,
    ),
  }

  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.kind === 'alive') port.postMessage({ kind: 'alive' } satisfies FromFrame)
    else if (data.kind === 'theme') showTheme(data.theme)
    else if (data.kind === 'answer') answered(data)
    else {
      current = data.query
      for (const act of listeners) act(current)
    }
  }

  const fails = (error: unknown): void =>
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) })
  addEventListener('error', ({ error, message }) => fails(error ?? message))
  addEventListener('unhandledrejection', ({ reason }) => fails(reason))
  new ResizeObserver(() => tell({ kind: 'height', height: Math.ceil(document.body.scrollHeight) })).observe(
    document.body,
  )
  listenToLinks(page.navigate)
  listenToKeys((key) => tell({ kind: 'key', key }))
  import(named('archivolt-module'))
    .then(async (module: { default?: Start & Press }) => {
      if (!playing) return module.default!(page)
      const { navigate, texts } = page
      const say = (text: string) => tell({ kind: 'say', text })
      const jump = (seconds: number) => tell({ kind: 'jump', seconds })
      // The type does not matter: a module may export a page or a button, and the frame knows which one it has loaded.
      await module.default!({ ...({ api, reader, navigate, texts, playing, say, jump } satisfies Player) } as never)
      // Sent directly, because `tell` may drop messages.
      port.postMessage({ kind: 'done' } satisfies FromFrame)
    })
    .catch(fails)
}

const toRefusal = ({ message, ...more }: Refused): Error => Object.assign(new Error(message), more)

function showTheme(theme: 'system' | 'light' | 'dark'): void {
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset['theme']
  else dataset['theme'] = theme
  document
    .querySelector('meta[name="color-scheme"]')!
    .setAttribute('content', theme === 'system' ? 'light dark' : theme)
}

/** The surrounding page follows links into the archive. */
function listenToLinks(navigate: (to: string) => void): void {
  addEventListener('click', (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]')
    if (event.defaultPrevented || !link) return
    event.preventDefault()
    if (link.origin === location.origin && link.pathname.startsWith(base))
      navigate(`/${link.pathname.slice(base.length)}${link.search}`)
  })
}

/** Keys that the plugin page does not use are passed to the surrounding page. */
function listenToKeys(tell: (key: string) => void): void {
  addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches('input, textarea, select, [contenteditable]')
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
    if (event.key.length !== 1 || event.key === ' ') return
    event.preventDefault()
    tell(event.key)
  })
}

addEventListener('message', ({ source, data, ports: [port] }: MessageEvent<Begin>) => {
  if (source === parent && data.kind === 'begin' && port) run(port, data)
})
parent.postMessage(HELLO, '*')
