/** Routes of webhooks (contract 9.21), only for admins, because events concern the whole archive. */
import {
  defineRemoval,
  defineRoute,
  errors,
  mustBeWebUrl,
  mustNotBeBlank,
  Name,
  ROW_PATTERN,
  say,
  Type,
  WebUrl,
} from 'archivolt'
import type { App } from './app.ts'
import type { DeliveryRow, WebhookRow } from './tables.ts'

const MOST_LISTED = 100
const Epoch = Type.Integer({ minimum: 0 })
const Count = Type.Integer({ minimum: 0 })

const Delivery = Type.Object({
  id: Type.String(),
  event: Type.String(),
  state: Type.Enum(['waiting', 'delivered', 'failed']),
  tries: Count,
  created: Epoch,
  asked: Type.Optional(Epoch),
  took_ms: Type.Optional(Count),
  status: Type.Optional(Type.Integer()),
  answer: Type.String(),
  error: Type.String(),
})

const webhookKeys = {
  id: Type.Integer(),
  name: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  is_on: Type.Boolean(),
  created: Epoch,
  waiting: Count,
  dropped: Count,
  last: Type.Optional(Delivery),
}
const Webhook = Type.Object(webhookKeys)
const WebhookWithSecret = Type.Object({ ...webhookKeys, secret: Type.String() })

const Params = Type.Object({ webhookId: Type.String({ pattern: ROW_PATTERN }) })

const given = {
  name: Name,
  url: WebUrl,
  events: Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
}

export const listWebhooks = defineRoute({
  method: 'GET',
  path: '/api/webhook/',
  access: 'admin',
  scope: 'admin',
  summary: 'Webhooks with the last answer to each, and all events',
  reply: Type.Object({ webhooks: Type.Array(Webhook), events: Type.Array(Type.String()) }),
  handle: (_input, app: App) => ({
    webhooks: app.webhooks.rows.webhooks().map((row) => record(row, app)),
    events: app.webhooks.events(),
  }),
})

export const addWebhook = defineRoute({
  method: 'POST',
  path: '/api/webhook/',
  access: 'admin',
  summary: 'Add a webhook; only this reply shows its secret',
  body: Type.Object(given),
  reply: WebhookWithSecret,
  errors: ['bad_request', 'conflict'],
  async handle({ body }, app: App) {
    check(body, app)
    const { row, secret } = await app.webhooks.add(body)
    return { ...record(row, app), secret }
  },
})

export const changeWebhook = defineRoute({
  method: 'POST',
  path: '/api/webhook/:webhookId/',
  access: 'admin',
  summary: 'Change a webhook, or switch it off and on; waiting messages stay',
  params: Params,
  body: Type.Partial(Type.Object({ ...given, is_on: Type.Boolean() })),
  reply: Webhook,
  errors: ['bad_request'],
  async handle({ params: { webhookId }, body: { is_on, ...body } }, app: App) {
    check(body, app)
    return record(await app.webhooks.change(Number(webhookId), { ...body, isOn: is_on }), app)
  },
})

export const removeWebhook = defineRemoval({
  path: '/api/webhook/:webhookId/',
  access: 'admin',
  summary: 'Remove a webhook with its waiting messages',
  remove: (id, app: App) => app.webhooks.remove(id),
})

export const renewSecret = defineRoute({
  method: 'POST',
  path: '/api/webhook/:webhookId/secret/',
  access: 'admin',
  summary: 'Give a webhook a new secret, which only this reply shows; the former one is no longer valid',
  params: Params,
  reply: Type.Object({ secret: Type.String() }),
  async handle({ params: { webhookId } }, app: App) {
    return { secret: await app.webhooks.renewSecret(Number(webhookId)) }
  },
})

export const testWebhook = defineRoute({
  method: 'POST',
  path: '/api/webhook/:webhookId/test/',
  access: 'admin',
  summary: 'Send the message `webhook.test` once, now, and return the answer',
  params: Params,
  reply: Delivery,
  handle: async ({ params: { webhookId }, signal }, app: App) =>
    deliveryRecord(await app.webhooks.test(Number(webhookId), signal)),
})

export const listDeliveries = defineRoute({
  method: 'GET',
  path: '/api/webhook/:webhookId/delivery/',
  access: 'admin',
  scope: 'admin',
  summary: 'The newest hundred messages to a webhook, and their results',
  params: Params,
  reply: Type.Array(Delivery),
  handle({ params: { webhookId } }, { webhooks: { rows } }: App) {
    if (!rows.webhook(Number(webhookId))) throw errors.notFound('webhook')
    return rows.deliveries(Number(webhookId), MOST_LISTED).map(deliveryRecord)
  },
})

/** Checks what a schema cannot express. */
function check({ name, url, events }: { name?: string; url?: string; events?: string[] }, app: App): void {
  if (name !== undefined) mustNotBeBlank(name)
  if (url !== undefined) mustBeWebUrl(url)
  const known = new Set(app.webhooks.events())
  const unknown = events?.find((event) => !known.has(event))
  if (unknown !== undefined)
    throw errors.badRequest(say`${{ unknown }} is not an event; GET /api/webhook/ lists them`, {
      fields: { events: 'is not a known event' },
    })
}

const seconds = (ms: number): number => Math.floor(ms / 1000)

const deliveryRecord = (row: DeliveryRow) => ({
  id: row.message_id,
  event: row.event,
  state: row.state,
  tries: row.tries,
  created: seconds(row.created_at),
  ...(row.asked_at !== null && { asked: seconds(row.asked_at) }),
  ...(row.took_ms !== null && { took_ms: row.took_ms }),
  ...(row.status !== null && { status: row.status }),
  answer: row.answer,
  error: row.error,
})

function record(row: WebhookRow, { webhooks: { rows, eventsOf } }: App) {
  const last = rows.lastAsked(row.id)
  return {
    id: row.id,
    name: row.name,
    url: row.url ?? '',
    events: eventsOf(row),
    is_on: row.is_on === 1,
    created: seconds(row.created_at),
    waiting: rows.waiting(row.id),
    dropped: row.dropped,
    last: last && deliveryRecord(last),
  }
}
