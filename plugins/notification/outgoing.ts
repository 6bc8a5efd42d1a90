/**
 * Sends messages to external URLs when a task ends (contract 8.5). A carrier is chosen by the URL's scheme: ours first,
 * then those of plugins; Apprise handles all others.
 */
import { errors, type Job } from 'archivolt'
import type { App } from './app.ts'
import { openApprise } from './apprise.ts'
import type { Carriers, OutgoingMessage } from './carrier.ts'
import { postJson } from './post-json.ts'

const ownCarriers: Carriers = { json: postJson, jsons: postJson, http: postJson, https: postJson }

const LONGEST_DELIVERY_MS = 30_000
/** Maximum number of messages in flight; the others wait. */
const MOST_AT_ONCE = 4
const MOST_WAITING = 200

const schemeOf = (url: string): string => /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? ''

export interface Outgoing {
  /** @throws bad_request: not a URL; unavailable: the message could not be delivered */
  deliver(url: string, message: OutgoingMessage): Promise<void>
  /** Starts sending messages about ended jobs. */
  begin(): void
  /** Aborts messages in flight, so that the server does not wait for them when it closes. */
  end(): Promise<void>
}

export function openOutgoing(app: App): Outgoing {
  const apprise = openApprise(app.settings)
  const closing = new AbortController()
  const waiting: Array<() => Promise<void>> = []
  const running = new Set<Promise<void>>()
  let unwatch: (() => void) | undefined

  async function deliver(url: string, message: OutgoingMessage): Promise<void> {
    const scheme = schemeOf(url)
    if (!scheme)
      throw errors.badRequest('The address for messages must begin with a scheme, such as mailto: or https://')
    const brought = app.hook('notification.carrier').find((one) => one.schemes.includes(scheme))
    const own = Object.hasOwn(ownCarriers, scheme) ? ownCarriers[scheme] : undefined
    const carry = own ?? brought?.carry ?? apprise
    const late = new AbortController()
    const timer = app.clock.after(LONGEST_DELIVERY_MS, () => late.abort(new Error('no answer within 30 s')))
    try {
      await carry(url, message, AbortSignal.any([late.signal, closing.signal]))
    } finally {
      timer.cancel()
    }
  }

  async function tryToDeliver(task: string, url: string, message: OutgoingMessage): Promise<void> {
    try {
      await deliver(url, message)
    } catch (error) {
      // The URL is not logged, because it may contain credentials.
      app.log.warn({ err: error, task, scheme: schemeOf(url) }, 'an outgoing message could not be delivered')
    }
  }

  function work(): void {
    while (running.size < MOST_AT_ONCE && !closing.signal.aborted) {
      const next = waiting.shift()
      if (!next) return
      const delivery = next().finally(() => {
        running.delete(delivery)
        work()
      })
      running.add(delivery)
    }
  }

  function announce(run: Job): void {
    const urls = app.schedules.outgoing()[run.task]?.urls ?? []
    const task = app.registry.tasks.get(run.task)
    if (!run.result || !task?.outgoing) return
    const isNews = task.outgoing === 'news'
    const message: OutgoingMessage = {
      title: `[Archivolt] ${task.title}${isNews ? '' : ` process ended with ${run.state}`}`,
      body: run.result,
      kind: run.state === 'SUCCESS' && !isNews ? 'success' : 'failure',
    }
    for (const url of urls) {
      if (waiting.length >= MOST_WAITING)
        return app.log.warn({ task: run.task }, 'too many outgoing messages are waiting; this one is dropped')
      waiting.push(() => tryToDeliver(run.task, url, message))
    }
    work()
  }

  return {
    deliver,
    begin() {
      unwatch = app.jobs.onEnded(announce)
    },

    async end() {
      unwatch?.()
      closing.abort(new Error('the server is closing'))
      waiting.length = 0
      await Promise.allSettled(running)
    },
  }
}
