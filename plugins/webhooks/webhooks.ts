/** The service `webhooks`: decides which events are sent where, and delivers pending messages in order. */
import { randomUUID } from 'node:crypto'
import { errors, say } from 'archivolt'
import type { App } from './app.ts'
import { isTaken, send } from './deliver.ts'
import { newSecret } from './signature.ts'
import { type DeliveryRow, openRows, type Rows, type WebhookRow } from './tables.ts'

const MOST_WEBHOOKS = 20
/** Maximum number of pending deliveries per webhook: further ones are counted, but not stored. */
const MOST_WAITING = 1000
const LONGEST_BODY = 256_000
/** Retries after 30 s, 2 min, 8 min, 32 min and 2 h; then the next message is sent. */
export const RETRIES = { times: 5, delaySeconds: 30, factor: 4 } as const
/**
 * Maximum number of refused messages of one webhook that do not block others. With more, the receiver is considered
 * faulty.
 */
const MOST_ASIDE = 10
const LONGEST_WAIT_MS = 24 * 3_600_000
export const DELIVER = 'webhooks.deliver'

interface WebhookInput {
  name: string
  url: string
  events: string[]
}

export interface Webhooks {
  readonly rows: Rows
  /** The events that a webhook can receive. */
  readonly eventsOf: (row: WebhookRow) => string[]
  /** All events of plugins, except those that are only delivered locally. */
  events(): string[]
  /** Stores the deliveries of an event; they are on disk when it resolves. */
  hear(event: string, told: unknown): Promise<void>
  /** The work of a delivery's job. @throws unavailable: the job must be retried */
  deliver(id: number, signal: AbortSignal): Promise<void>
  /** Continues deliveries after a crash, and deliveries that waited while their webhook was off. */
  goOnAll(): Promise<void>
  /** @returns also the secret, which is never shown again */
  add(webhook: WebhookInput): Promise<{ row: WebhookRow; secret: string }>
  change(id: number, change: Partial<WebhookInput> & { isOn?: boolean | undefined }): Promise<WebhookRow>
  /** Replaces the secret; the previous one becomes invalid. */
  renewSecret(id: number): Promise<string>
  remove(id: number): Promise<void>
  /** Sends a test message now, once, independently of the order. */
  test(id: number, signal: AbortSignal): Promise<DeliveryRow>
}

/** Keys that are not sent: paths, which are only useful on this machine, and lists of unlimited length. */
const INWARD = new Set(['path', 'oldPath', 'ids'])

const outward = (event: string, told: unknown): unknown =>
  typeof told === 'object' && told !== null && event.startsWith('video.')
    ? Object.fromEntries(Object.entries(told).filter(([key]) => !INWARD.has(key)))
    : (told ?? {})

export function openWebhooks(app: App): Webhooks {
  const rows = openRows(app.ledger)
  /** Event → its webhooks; undefined: must be read again. Most events have none, and then need no query. */
  let wanted: Map<string, number[]> | undefined
  const eventsOf = ({ id, events }: WebhookRow): string[] =>
    app.ledger.json<string[]>(events, `webhooks.events of ${id}`, [])

  function readWanted(): Map<string, number[]> {
    const found = new Map<string, number[]>()
    for (const row of rows.webhooks())
      if (row.is_on) for (const event of eventsOf(row)) found.set(event, [...(found.get(event) ?? []), row.id])
    return found
  }

  function surely(id: number): WebhookRow {
    const row = rows.webhook(id)
    if (!row) throw errors.notFound('webhook')
    return row
  }

  /** The refused deliveries, and the first of the others. */
  function due(webhookId: number): number[] {
    const aside = rows.aside(webhookId)
    const first = aside.length < MOST_ASIDE ? rows.first(webhookId) : undefined
    return first === undefined ? aside : [...aside, first]
  }

  /**
   * Starts a job for each due delivery, or merges with its waiting job.
   * @param options  `isPatient` false: the webhook was corrected, so waiting retries begin now
   */
  async function goOn(webhookId: number, { isPatient } = { isPatient: true }): Promise<void> {
    if (!rows.webhook(webhookId)?.is_on) return
    for (const delivery of due(webhookId)) await app.jobs.start(DELIVER, { delivery }, { isPatient })
  }

  /** The body of a message. undefined: it could not be made, which must not fail the event's emitter. */
  function bodyOf(event: string, told: unknown): string | undefined {
    try {
      const body = JSON.stringify({
        type: event,
        timestamp: new Date(app.clock.now()).toISOString(),
        data: outward(event, told),
      })
      if (body.length <= LONGEST_BODY) return body
      app.log.warn({ event, length: body.length }, 'an event is too long for webhooks, and is not sent')
    } catch (err) {
      app.log.warn({ err, event }, 'an event is not JSON and is not sent to webhooks')
    }
    return undefined
  }

  const newMessage = (webhookId: number, event: string, body: string) => ({
    ...{ webhook_id: webhookId, message_id: `msg_${randomUUID()}`, event, body },
    created_at: app.clock.now(),
  })

  /** @returns whether no other delivery comes before it */
  function put(webhookId: number, event: string, body: string): boolean {
    const isFree = rows.first(webhookId) === undefined
    if (rows.waiting(webhookId) >= MOST_WAITING) rows.noteDropped(webhookId)
    else rows.addDelivery(newMessage(webhookId, event, body))
    return isFree
  }

  /** Ends a delivery whose last attempt was made, or for which none is possible. */
  function giveUp(delivery: DeliveryRow, error: string): Promise<void> {
    return app.ledger.write(() => {
      rows.explain(delivery.id, error)
      rows.end(delivery.id, 'failed')
    })
  }

  async function tryOnce(delivery: DeliveryRow, webhook: WebhookRow, signal: AbortSignal): Promise<void> {
    if (app.clock.now() - delivery.created_at > LONGEST_WAIT_MS)
      return giveUp(delivery, 'It waited for more than a day behind other messages, and was dropped')
    const answer = await send(webhook, delivery, { app, signal })
    const isLast = delivery.tries >= RETRIES.times
    await app.ledger.write(() => {
      rows.noteTry(delivery.id, answer)
      if (isTaken(answer)) rows.end(delivery.id, 'delivered')
      else if (isLast) rows.end(delivery.id, 'failed')
    })
    if (!isTaken(answer) && !isLast) throw errors.unavailable(answer.error)
  }

  return {
    rows,
    eventsOf,

    events: () => app.registry.plugins.flatMap(({ events = [] }): string[] => [...events]).sort(),

    async hear(event, told) {
      wanted ??= readWanted()
      const ids = wanted.get(event)
      const body = ids && bodyOf(event, told)
      if (body === undefined) return
      const begun = await app.ledger.write(() => ids!.filter((id) => rows.webhook(id)?.is_on && put(id, event, body)))
      for (const id of begun) await goOn(id)
    },

    async deliver(id, signal) {
      const delivery = rows.delivery(id)
      const webhook = delivery && rows.webhook(delivery.webhook_id)
      if (!delivery || !webhook?.is_on) return
      try {
        if (delivery.state === 'waiting') await tryOnce(delivery, webhook, signal)
      } finally {
        // A refused message no longer blocks others, so the next one need not wait for the end of its job.
        if (!signal.aborted) await goOn(webhook.id)
      }
    },

    async goOnAll() {
      for (const { id } of rows.webhooks()) await goOn(id)
    },

    async add({ name, url, events }) {
      const secret = newSecret()
      const row = await app.ledger.write(() => {
        if (rows.webhooks().length >= MOST_WEBHOOKS)
          throw errors.conflict(say`There are already ${{ most: MOST_WEBHOOKS }} webhooks; remove one first`)
        wanted = undefined
        const row = {
          name,
          url,
          events: JSON.stringify(events),
          secret,
          is_on: 1,
          created_at: app.clock.now(),
        }
        return surely(rows.addWebhook(row))
      })
      return { row, secret }
    },

    async change(id, change) {
      const { name, url, events, isOn } = change
      const changed = await app.ledger.write(() => {
        const row = surely(id)
        wanted = undefined
        rows.changeWebhook({
          ...row,
          name: name ?? row.name,
          url: url ?? row.url,
          events: events ? JSON.stringify(events) : row.events,
          is_on: isOn === undefined ? row.is_on : Number(isOn),
        })
        return surely(id)
      })
      await goOn(id, { isPatient: url === undefined })
      return changed
    },

    async renewSecret(id) {
      const secret = newSecret()
      await app.ledger.write(() => rows.changeWebhook({ ...surely(id), secret }))
      await goOn(id, { isPatient: false })
      return secret
    },

    async remove(id) {
      await app.ledger.write(() => {
        wanted = undefined
        if (!rows.removeWebhook(id)) throw errors.notFound('webhook')
      })
    },

    async test(id, signal) {
      const webhook = surely(id)
      const message = newMessage(id, 'webhook.test', bodyOf('webhook.test', { name: webhook.name })!)
      const answer = await send(webhook, message, { app, signal })
      const tried = await app.ledger.write(() => {
        surely(id)
        const delivery = rows.addDelivery(message)
        rows.noteTry(delivery, answer)
        rows.end(delivery, isTaken(answer) ? 'delivered' : 'failed')
        return rows.delivery(delivery)!
      })
      if (isTaken(answer)) await goOn(id, { isPatient: false })
      return tried
    },
  }
}
