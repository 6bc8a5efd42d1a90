/** The service `webhooks`: who is told of which events, and what is on its way to them, in order. */
import { randomUUID } from 'node:crypto'
import { errors, say } from 'archivolt'
import type { App } from './app.ts'
import { isTaken, send } from './deliver.ts'
import { newSecret } from './signature.ts'
import { type DeliveryRow, openRows, type Rows, type WebhookRow } from './tables.ts'

const MOST_WEBHOOKS = 20
/** Of one webhook: what comes on top is counted, not kept. */
const MOST_WAITING = 1000
const LONGEST_BODY = 256_000
/** After 30 s, 2 min, 8 min, 32 min and 2 h; then the next one is sent. */
export const RETRIES = { times: 5, delaySeconds: 30, factor: 4 } as const
/** Refused messages of one webhook that hold nobody back. Where there are so many, it is the receiver that is wrong. */
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
  /** What a webhook is told of. */
  readonly eventsOf: (row: WebhookRow) => string[]
  /** All that plugins tell; what is heard in place alone is nobody's outside. */
  events(): string[]
  /** On disk when it resolves. */
  hear(event: string, told: unknown): Promise<void>
  /** The work of a delivery's job. @throws unavailable: to be tried again */
  deliver(id: number, signal: AbortSignal): Promise<void>
  /** What a crash has left, and what has waited while a webhook was off. */
  goOnAll(): Promise<void>
  /** @returns its secret too, which nobody is shown again */
  add(webhook: WebhookInput): Promise<{ row: WebhookRow; secret: string }>
  change(id: number, change: Partial<WebhookInput> & { isOn?: boolean | undefined }): Promise<WebhookRow>
  /** The one before is of no use any more. */
  renewSecret(id: number): Promise<string>
  remove(id: number): Promise<void>
  /** Sends a message now, out of turn, once. */
  test(id: number, signal: AbortSignal): Promise<DeliveryRow>
}

class LedgerWebhooks implements Webhooks {
  readonly #app: App
  readonly rows: Rows
  /** Event → webhooks that are told of it; undefined: read anew. Most events have none, and cost no query. */
  #wanted: Map<string, number[]> | undefined

  constructor(app: App) {
    this.#app = app
    this.rows = openRows(this.#app.ledger)
  }

  events(): string[] {
    return this.#app.registry.plugins.flatMap(({ events = [] }): string[] => [...events]).sort()
  }

  async hear(event: string, told: unknown): Promise<void> {
    this.#wanted ??= this.#readWanted()
    const ids = this.#wanted.get(event)
    const body = ids && this.#bodyOf(event, told)
    if (body === undefined) return
    const begun = await this.#app.ledger.write(() =>
      ids!.filter((id) => this.rows.webhook(id)?.is_on && this.#put(id, event, body)),
    )
    for (const id of begun) await this.#goOn(id)
  }

  async deliver(id: number, signal: AbortSignal): Promise<void> {
    const delivery = this.rows.delivery(id)
    const webhook = delivery && this.rows.webhook(delivery.webhook_id)
    if (!delivery || !webhook?.is_on) return
    try {
      if (delivery.state === 'waiting') await this.#tryOnce(delivery, webhook, signal)
    } finally {
      // What was refused is aside now: the next one need not wait for its job's end.
      if (!signal.aborted) await this.#goOn(webhook.id)
    }
  }

  async goOnAll(): Promise<void> {
    for (const { id } of this.rows.webhooks()) await this.#goOn(id)
  }

  async add({ name, url, events }: WebhookInput): Promise<{ row: WebhookRow; secret: string }> {
    const secret = newSecret()
    const row = await this.#app.ledger.write(() => {
      if (this.rows.webhooks().length >= MOST_WEBHOOKS)
        throw errors.conflict(say`There are ${{ most: MOST_WEBHOOKS }} webhooks already; remove one first`)
      this.#wanted = undefined
      const row = {
        name,
        url,
        events: JSON.stringify(events),
        secret,
        is_on: 1,
        created_at: this.#app.clock.now(),
      }
      return this.#surely(this.rows.addWebhook(row))
    })
    return { row, secret }
  }

  async change(id: number, change: Partial<WebhookInput> & { isOn?: boolean | undefined }): Promise<WebhookRow> {
    const { name, url, events, isOn } = change
    const changed = await this.#app.ledger.write(() => {
      const row = this.#surely(id)
      this.#wanted = undefined
      this.rows.changeWebhook({
        ...row,
        name: name ?? row.name,
        url: url ?? row.url,
        events: events ? JSON.stringify(events) : row.events,
        is_on: isOn === undefined ? row.is_on : Number(isOn),
      })
      return this.#surely(id)
    })
    await this.#goOn(id, { isPatient: url === undefined })
    return changed
  }

  async renewSecret(id: number): Promise<string> {
    const secret = newSecret()
    await this.#app.ledger.write(() => this.rows.changeWebhook({ ...this.#surely(id), secret }))
    await this.#goOn(id, { isPatient: false })
    return secret
  }

  async remove(id: number): Promise<void> {
    await this.#app.ledger.write(() => {
      this.#wanted = undefined
      if (!this.rows.removeWebhook(id)) throw errors.notFound('webhook')
    })
  }

  async test(id: number, signal: AbortSignal): Promise<DeliveryRow> {
    const webhook = this.#surely(id)
    const message = this.#newMessage(id, 'webhook.test', this.#bodyOf('webhook.test', { name: webhook.name })!)
    const answer = await send(webhook, message, { app: this.#app, signal })
    const tried = await this.#app.ledger.write(() => {
      this.#surely(id)
      const delivery = this.rows.addDelivery(message)
      this.rows.noteTry(delivery, answer)
      this.rows.end(delivery, isTaken(answer) ? 'delivered' : 'failed')
      return this.rows.delivery(delivery)!
    })
    if (isTaken(answer)) await this.#goOn(id, { isPatient: false })
    return tried
  }

  readonly eventsOf = ({ id, events }: WebhookRow): string[] =>
    this.#app.ledger.json<string[]>(events, `webhooks.events of ${id}`, [])

  #readWanted(): Map<string, number[]> {
    const found = new Map<string, number[]>()
    for (const row of this.rows.webhooks())
      if (row.is_on) for (const event of this.eventsOf(row)) found.set(event, [...(found.get(event) ?? []), row.id])
    return found
  }

  #surely(id: number): WebhookRow {
    const row = this.rows.webhook(id)
    if (!row) throw errors.notFound('webhook')
    return row
  }

  /** Those that were refused, and the first of the others. */
  #due(webhookId: number): number[] {
    const aside = this.rows.aside(webhookId)
    const first = aside.length < MOST_ASIDE ? this.rows.first(webhookId) : undefined
    return first === undefined ? aside : [...aside, first]
  }

  /**
   * What is due gets a job each; where it has one already, it is met.
   * @param options  not patient: the webhook was put right, so what waits to be tried again is tried now
   */
  async #goOn(webhookId: number, { isPatient } = { isPatient: true }): Promise<void> {
    if (!this.rows.webhook(webhookId)?.is_on) return
    for (const delivery of this.#due(webhookId)) await this.#app.jobs.start(DELIVER, { delivery }, { isPatient })
  }

  /** Nobody who tells an event fails because it cannot be sent. */
  #bodyOf(event: string, told: unknown): string | undefined {
    try {
      const body = JSON.stringify({
        type: event,
        timestamp: new Date(this.#app.clock.now()).toISOString(),
        data: told ?? {},
      })
      if (body.length <= LONGEST_BODY) return body
      this.#app.log.warn({ event, length: body.length }, 'an event is too long for webhooks, and is not sent')
    } catch (err) {
      this.#app.log.warn({ err, event }, 'an event is no JSON, and is not sent to webhooks')
    }
    return undefined
  }

  #newMessage(
    webhookId: number,
    event: string,
    body: string,
  ): { webhook_id: number; message_id: string; event: string; body: string; created_at: number } {
    return {
      webhook_id: webhookId,
      message_id: `msg_${randomUUID()}`,
      event,
      body,
      created_at: this.#app.clock.now(),
    }
  }

  /** @returns whether nothing is before it */
  #put(webhookId: number, event: string, body: string): boolean {
    const isFree = this.rows.first(webhookId) === undefined
    if (this.rows.waiting(webhookId) >= MOST_WAITING) this.rows.noteDropped(webhookId)
    else this.rows.addDelivery(this.#newMessage(webhookId, event, body))
    return isFree
  }

  /** Its last try has been made, or there is none to make. */
  #giveUp(delivery: DeliveryRow, error: string): Promise<void> {
    return this.#app.ledger.write(() => {
      this.rows.explain(delivery.id, error)
      this.rows.end(delivery.id, 'failed')
    })
  }

  async #tryOnce(delivery: DeliveryRow, webhook: WebhookRow, signal: AbortSignal): Promise<void> {
    if (this.#app.clock.now() - delivery.created_at > LONGEST_WAIT_MS)
      return this.#giveUp(delivery, 'It has waited for more than a day behind others, and is not sent any more')
    const answer = await send(webhook, delivery, { app: this.#app, signal })
    const isLast = delivery.tries >= RETRIES.times
    await this.#app.ledger.write(() => {
      this.rows.noteTry(delivery.id, answer)
      if (isTaken(answer)) this.rows.end(delivery.id, 'delivered')
      else if (isLast) this.rows.end(delivery.id, 'failed')
    })
    if (!isTaken(answer) && !isLast) throw errors.unavailable(answer.error)
  }
}

export function openWebhooks(app: App): Webhooks {
  return new LedgerWebhooks(app)
}
