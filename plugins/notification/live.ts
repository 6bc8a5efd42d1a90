/** The listeners of `/api/events/`, and what they receive. */
import type { Actor } from 'archivolt'
import type { App } from './app.ts'

type Send = (event: string, data: unknown) => void

/** The stream ends when the rights of its actor change. */
interface Listener {
  actor: Actor
  send: Send
}

type Audience = 'downloaders' | 'admins'

/**
 * The messages for an account: those of tasks, then those of its own requests. Accounts with a view get none, because
 * messages contain names of videos.
 */
export const messagesFor = (
  { id, view, isAdmin }: Pick<Actor, 'id' | 'isAdmin'> & { view?: unknown },
  { jobs, requests }: Pick<App, 'jobs' | 'requests'>,
) => (view ? [] : [...jobs.notifications(isAdmin), ...requests.messagesOf(id)])

export interface Live {
  /** Sends the messages of running jobs to all listeners, or to those of a single account. */
  tellMessages(only?: number): void
  /** Starts listening to jobs. */
  begin(): void
  end(): void
  /** @returns unregisters it */
  join(actor: Actor, send: Send): () => void
  /**
   * Sends the current item of the queue, or `removed`. Without an id, so much has changed that clients reload the
   * queue.
   */
  queueChanged(id: string | undefined): Promise<void>
}

export function openLive(app: App): Live {
  const listeners = new Set<Listener>()
  let unwatch: (() => void) | undefined

  function tell(event: string, data: unknown, audience: Audience): void {
    for (const { actor, send } of listeners) if (isAmong(audience, actor)) send(event, data)
  }

  /** Sends each account its list of messages. @param only  limits this to the listeners of one account */
  function tellMessages(only?: number): void {
    // An account may have a stream with admin rights and one without.
    const made = new Map<string, ReturnType<typeof messagesFor>>()
    for (const { actor, send } of listeners) {
      if (actor.view || (only !== undefined && actor.id !== only)) continue
      const key = `${actor.id} ${actor.isAdmin}`
      const messages = made.get(key) ?? messagesFor(actor, app)
      made.set(key, messages)
      send('notification', messages)
    }
  }

  return {
    tellMessages,
    begin() {
      unwatch = app.jobs.watch(({ job, notifications }) => {
        if (!listeners.size) return
        if (notifications) tellMessages()
        if (job) tell('job', app.tasks.record(job), 'admins')
      })
    },

    end() {
      unwatch?.()
      listeners.clear()
    },

    join(actor, send) {
      const listener = { actor, send }
      listeners.add(listener)
      send('notification', messagesFor(actor, app))
      if (actor.mayDownload) send('queue', { reset: true })
      return () => void listeners.delete(listener)
    },

    async queueChanged(id) {
      if (!listeners.size) return
      if (id === undefined) return tell('queue', { reset: true }, 'downloaders')
      const item = app.queue.get(id)
      const told: unknown = item
        ? JSON.parse(app.queue.replyOf(item))
        : { platform_id: id, ...app.platform.mirror(id), removed: true }
      tell('queue', told, 'downloaders')
    },
  }
}

const isAmong = (audience: Audience, { isAdmin, mayDownload, view }: Actor): boolean =>
  !view && (audience === 'downloaders' ? mayDownload : isAdmin)
