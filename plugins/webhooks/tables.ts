/** Webhooks and their deliveries: rows of the ledger, written before the event counts as handled. */
import type { Ledger } from 'archivolt'

export const webhookTables = {
  number: 1,
  sql: `
-- events: names, as a JSON array. secret: what signs; it is shown once. url and secret are sealed.
-- dropped: events that found the queue full. Times in epoch milliseconds.
CREATE TABLE webhooks_webhook (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  secret TEXT NOT NULL,
  is_on INTEGER NOT NULL DEFAULT 1,
  dropped INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;
-- body: the same bytes at each try. asked_at, took_ms, status, answer, error: of the last try.
CREATE TABLE webhooks_delivery (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  webhook_id INTEGER NOT NULL REFERENCES webhooks_webhook (id) ON DELETE CASCADE,
  message_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
  tries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  asked_at INTEGER,
  took_ms INTEGER,
  status INTEGER,
  answer TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX webhooks_delivery_of ON webhooks_delivery (webhook_id, state, id);
`,
}

export const secretColumns = ['webhooks_webhook.url', 'webhooks_webhook.secret'] as const
const [URL_COLUMN, SECRET_COLUMN] = secretColumns

export interface WebhookRow {
  id: number
  name: string
  /** undefined: it was sealed with another secret key. */
  url: string | undefined
  events: string
  /** undefined: it was sealed with another secret key. */
  secret: string | undefined
  is_on: number
  dropped: number
  created_at: number
}

export interface DeliveryRow {
  id: number
  webhook_id: number
  message_id: string
  event: string
  body: string
  state: 'waiting' | 'delivered' | 'failed'
  tries: number
  created_at: number
  asked_at: number | null
  took_ms: number | null
  status: number | null
  answer: string
  error: string
}

/** The result of one attempt. */
export interface Answer {
  asked_at: number
  took_ms: number
  status: number | null
  answer: string
  error: string
}

/** Number of ended deliveries that are stored per webhook: enough to find a problem. */
const MOST_KEPT = 50

/**
 * SQL: whether the message was refused with a status that concerns only this message. It is then retried independently,
 * and others do not wait for it. 408, 425 and 429 ask for a later retry, which applies to all.
 */
const IS_ASIDE = 'coalesce(status BETWEEN 400 AND 499 AND status NOT IN (408, 425, 429), 0)'

export interface Rows {
  webhooks(): WebhookRow[]
  webhook(id: number): WebhookRow | undefined
  addWebhook(row: Omit<WebhookRow, 'id' | 'dropped'>): number
  /** A value that cannot be unsealed stays unchanged. */
  changeWebhook(row: WebhookRow): void
  removeWebhook(id: number): boolean
  noteDropped(id: number): void
  addDelivery(row: Pick<DeliveryRow, 'webhook_id' | 'message_id' | 'event' | 'body' | 'created_at'>): number
  delivery(id: number): DeliveryRow | undefined
  /** The next delivery, for which later ones wait. */
  first(webhookId: number): number | undefined
  aside(webhookId: number): number[]
  waiting(webhookId: number): number
  deliveries(webhookId: number, most: number): DeliveryRow[]
  /** The delivery with the latest attempt. */
  lastAsked(webhookId: number): DeliveryRow | undefined
  noteTry(id: number, answer: Answer): void
  /** Ends a delivery, and removes the oldest ended ones. */
  end(id: number, state: 'delivered' | 'failed'): void
  explain(id: number, error: string): void
}

/** Call writing methods inside `ledger.write`. */
export function openRows({ sql, seal, unseal }: Ledger): Rows {
  type Stored = WebhookRow & { url: string; secret: string }
  const opened = (row: Stored): WebhookRow => ({
    ...row,
    url: unseal(URL_COLUMN, row.url),
    secret: unseal(SECRET_COLUMN, row.secret),
  })
  const sealed = ({ url, secret, ...row }: Partial<WebhookRow>) => ({
    ...row,
    url: url === undefined ? null : seal(URL_COLUMN, url),
    secret: secret === undefined ? null : seal(SECRET_COLUMN, secret),
  })

  return {
    webhooks: () => sql<Stored>('SELECT * FROM webhooks_webhook ORDER BY id').all().map(opened),
    webhook(id) {
      const row = sql<Stored>('SELECT * FROM webhooks_webhook WHERE id = ?').get(id)
      return row && opened(row)
    },

    addWebhook: (row) =>
      Number(
        sql(
          `INSERT INTO webhooks_webhook (name, url, events, secret, is_on, created_at)
           VALUES (@name, @url, @events, @secret, @is_on, @created_at)`,
        ).run(sealed(row)).lastInsertRowid,
      ),

    changeWebhook: (row) =>
      void sql(
        `UPDATE webhooks_webhook SET name = @name, url = coalesce(@url, url), events = @events,
           secret = coalesce(@secret, secret), is_on = @is_on WHERE id = @id`,
      ).run(sealed(row)),

    removeWebhook: (id) => sql('DELETE FROM webhooks_webhook WHERE id = ?').run(id).changes > 0,
    noteDropped: (id) => void sql('UPDATE webhooks_webhook SET dropped = dropped + 1 WHERE id = ?').run(id),

    addDelivery: (row) =>
      Number(
        sql(
          `INSERT INTO webhooks_delivery (webhook_id, message_id, event, body, created_at)
           VALUES (@webhook_id, @message_id, @event, @body, @created_at)`,
        ).run(row).lastInsertRowid,
      ),

    delivery: (id) => sql<DeliveryRow>('SELECT * FROM webhooks_delivery WHERE id = ?').get(id),
    first: (webhookId) =>
      sql<{ id: number }>(
        `SELECT id FROM webhooks_delivery WHERE webhook_id = ? AND state = 'waiting' AND NOT ${IS_ASIDE} ORDER BY id LIMIT 1`,
      ).get(webhookId)?.id,

    aside: (webhookId) =>
      sql<{ id: number }>(
        `SELECT id FROM webhooks_delivery WHERE webhook_id = ? AND state = 'waiting' AND ${IS_ASIDE} ORDER BY id`,
      )
        .all(webhookId)
        .map(({ id }) => id),

    waiting: (webhookId) =>
      sql<{ n: number }>("SELECT count(*) AS n FROM webhooks_delivery WHERE webhook_id = ? AND state = 'waiting'").get(
        webhookId,
      )!.n,

    deliveries: (webhookId, most) =>
      sql<DeliveryRow>('SELECT * FROM webhooks_delivery WHERE webhook_id = ? ORDER BY id DESC LIMIT ?').all(
        webhookId,
        most,
      ),

    lastAsked: (webhookId) =>
      sql<DeliveryRow>(
        'SELECT * FROM webhooks_delivery WHERE webhook_id = ? AND asked_at IS NOT NULL ORDER BY asked_at DESC, id DESC LIMIT 1',
      ).get(webhookId),

    noteTry: (id, answer) =>
      void sql(
        `UPDATE webhooks_delivery SET tries = tries + 1, asked_at = @asked_at, took_ms = @took_ms, status = @status,
           answer = @answer, error = @error WHERE id = @id`,
      ).run({ ...answer, id }),

    end(id, state) {
      sql('UPDATE webhooks_delivery SET state = ? WHERE id = ?').run(state, id)
      sql(
        `DELETE FROM webhooks_delivery WHERE id IN (
           SELECT id FROM webhooks_delivery WHERE state <> 'waiting'
             AND webhook_id = (SELECT webhook_id FROM webhooks_delivery WHERE id = ?)
           ORDER BY id DESC LIMIT -1 OFFSET ?)`,
      ).run(id, MOST_KEPT)
    },

    explain: (id, error) => void sql('UPDATE webhooks_delivery SET error = ? WHERE id = ?').run(error, id),
  }
}
