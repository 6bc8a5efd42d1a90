/** Builds OpenAPI 3.1 from the routes. TypeBox schemas are JSON Schema, so they are used unchanged. */
import {
  type App,
  type ErrorCode,
  errorStatus,
  ID_PATTERN,
  isRequired,
  neededScope,
  type Route,
  Said,
  type TSchema,
} from 'archivolt'

type Json = Record<string, unknown>

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security: Json[]
  /** The scope that an access token needs; `none`: the route refuses access tokens. */
  'x-scope'?: string
  parameters: Array<{
    name: string
    in: 'path' | 'query'
    required: boolean
    allowEmptyValue?: boolean
    description?: string
    schema: Json
  }>
  requestBody?: { required: boolean; description?: string; content: Record<string, { schema: Json }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Json }>; headers?: Json }>
}

export interface Document {
  openapi: string
  info: { title: string; version: string; description: string }
  servers: Array<{ url: string }>
  tags: Array<{ name: string }>
  paths: Record<string, Record<string, Operation>>
  components: Json
}

const JSON_TYPE = 'application/json'
const FORM_TYPE = 'application/x-www-form-urlencoded'
const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

type Described = Pick<App, 'registry' | 'version' | 'settings' | 'hook' | 'preferences'>

export function toDocument(app: Described): Document {
  const paths: Document['paths'] = {}
  // Fallback routes are not part of the API.
  const routes = app.registry.routes.filter(({ path }) => path !== '/*')
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{path}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: toOperation(route, app) }
  }
  const tags = [...new Set(routes.map(tagOf))].sort()
  return {
    openapi: '3.1.0',
    info: {
      title: 'Archivolt',
      version: app.version,
      description:
        'Paths end with a slash, which may be left out. HEAD works wherever GET does. Bodies are JSON objects; nothing in them is coerced.',
    },
    servers: [{ url: app.settings.basePath.replace(/\/$/, '') || '/' }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description:
            '`Token <key>`: the key from POST /api/login/, or an access token whose scope includes that in `x-scope`',
        },
        tokenInQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'token',
          description: 'The same key, for readers of feeds and the like',
        },
        signedInQuery: {
          type: 'apiKey',
          in: 'query',
          name: 'signed',
          description: 'From POST /api/video/{videoId}/link/, valid for one path and six hours',
        },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'sessionid',
          description: 'From POST /login/. Writes need the header X-CSRFToken with the value of the cookie csrftoken',
        },
      },
      schemas: { Error: ERROR, Paginate: PAGINATE, ClientConfig: CLIENT_CONFIG },
    },
  }
}

/** `/api/channel/:id/` → `channel`; outside of the API, the first segment. */
const tagOf = ({ path }: Route): string => /^\/(?:api\/)?([\w-]*)/.exec(path)?.[1] || 'page'

function toOperation(route: Route, app: Described): Operation {
  const requestBody = bodyOf(route, app)
  return {
    operationId: [route.method.toLowerCase(), ...route.path.split(/[/*]/).filter(Boolean)]
      .map((part) => part.replace(/\W/g, ''))
      .join('_'),
    summary: route.summary,
    tags: [tagOf(route)],
    security:
      route.access === 'open'
        ? []
        : [
            { token: [] },
            { session: [] },
            ...(['tokenInQuery', 'signedInQuery'] as const).flatMap((name) => (route[name] ? [{ [name]: [] }] : [])),
          ],
    ...(route.access !== 'open' && { 'x-scope': neededScope(route) }),
    parameters: [...pathParameters(route), ...queryParameters(route, app)],
    ...(requestBody && { requestBody }),
    responses: { ...successOf(route, app), ...errorsOf(route) },
  }
}

function pathParameters({ path, params }: Route): Operation['parameters'] {
  return [...path.matchAll(/:(\w+)|\*$/g)].map(([, name]) => {
    const own = params?.properties[name ?? '*'] as Json | undefined
    const schema = {
      type: 'string',
      ...own,
      ...(own?.['pattern'] === undefined && own?.['enum'] === undefined && { pattern: ID_PATTERN }),
    }
    return { name: name ?? 'path', in: 'path', required: true, schema }
  })
}

function queryParameters(route: Route, { hook }: Pick<App, 'hook'>): Operation['parameters'] {
  const implementations = route.queryHook ? (hook(route.queryHook) as ReadonlyArray<{ query?: Route['query'] }>) : []
  const shape = Object.assign({}, ...implementations.map(({ query }) => query), route.query) as NonNullable<
    Route['query']
  >
  const own = Object.entries(shape).map(([name, parameter]) => {
    const { description, ...schema } = parameter as Json
    const required = isRequired(parameter)
    return {
      name,
      in: 'query' as const,
      required,
      // An empty text counts as omitted.
      ...(!required && { allowEmptyValue: true }),
      ...(description !== undefined && { description: String(description) }),
      schema,
    }
  })
  const page = {
    name: 'page',
    in: 'query' as const,
    required: false,
    allowEmptyValue: true,
    description: '0 and 1 are the first page',
    schema: { type: 'integer', minimum: 0, default: 0 },
  }
  return route.envelope === 'page' ? [...own, page] : own
}

function bodyOf({ body, bodyOptional = false, form, rawBody }: Route, app: Described): Operation['requestBody'] {
  if (rawBody) return { required: true, content: { [rawBody.contentType]: { schema: {} } } }
  if (!body) return undefined
  const schema = asJson(body, app)
  const hasRequired = Array.isArray(schema['required']) && schema['required'].length > 0
  return {
    required: !bodyOptional && hasRequired,
    // Some client generators produce broken code for a body with two types.
    ...(form && { description: `The same is accepted as ${FORM_TYPE}` }),
    content: { [JSON_TYPE]: { schema } },
  }
}

function successOf(route: Route, app: Described): Operation['responses'] {
  const status = String(route.status ?? 200)
  if (status === '204') return { 204: { description: 'Done; no content' } }
  const content = { [route.replyType ?? JSON_TYPE]: { schema: inEnvelope(route, app) } }
  const part = { 206: { description: 'The part that the header Range requests', content } }
  const known = { 304: { description: 'Not modified: If-None-Match has the current ETag' } }
  return {
    [status]: { description: 'Done', content },
    ...(isFile(route) && part),
    ...((isFile(route) || route.revalidates) && known),
  }
}

/** Copies a schema, including nested ones. `x-preferences` inserts the preferences, which several plugins declare. */
function asJson(schema: TSchema, { preferences, settings }: Described): Json {
  const { 'x-preferences': which, ...json } = described(schema, settings.platformIdField) as Json
  if (which === undefined) return json
  const required = (properties: object) => (which === 'all' ? { required: Object.keys(properties) } : {})
  const object = (properties: object) => ({
    type: 'object',
    properties,
    ...required(properties),
    additionalProperties: false,
  })
  return object(Object.fromEntries(Object.entries(preferences.sections).map(([name, keys]) => [name, object(keys)])))
}

/**
 * If the handler validates a value itself, `x-form` contains the schema for the description. `x-words` is only for
 * errors, and is removed. Each `platform_id` may also be under the platform's own name.
 */
function described(schema: unknown, idField: string | null): unknown {
  if (Array.isArray(schema)) return schema.map((each) => described(each, idField))
  if (typeof schema !== 'object' || schema === null) return schema
  const { 'x-form': form, 'x-words': _, ...own } = schema as Json
  const json = Object.fromEntries(
    Object.entries({ ...own, ...(form as Json | undefined) }).map(([key, value]) => [key, described(value, idField)]),
  )
  const properties = json['properties'] as Json | undefined
  const id = json['type'] === 'object' ? (properties?.['platform_id'] as Json | undefined) : undefined
  if (!id || idField === null) return json
  return { ...json, properties: { ...properties, [idField]: { ...id, description: 'the same as platform_id' } } }
}

/** Whether the reply is sent with an ETag and byte ranges. */
const isFile = ({ replyType = JSON_TYPE }: Route): boolean => replyType !== JSON_TYPE && !replyType.startsWith('text/')

function inEnvelope({ envelope, itemForm, reply }: Route, app: Described): Json {
  const value = asJson(reply, app)
  const enveloped = closed({ data: value, config: ref('ClientConfig') })
  // The caller determines which of its forms is sent.
  if (envelope === 'item') return itemForm ? { anyOf: [enveloped, value] } : enveloped
  if (envelope !== 'page') return value
  return closed({
    data: value['type'] === 'array' ? value : { type: 'array', items: value },
    paginate: ref('Paginate'),
    config: ref('ClientConfig'),
  })
}

const closed = (properties: Json): Json => ({ type: 'object', required: Object.keys(properties), properties })

/** The errors that the pipeline, or the handler by its declaration, may return. */
function errorsOf(route: Route): Operation['responses'] {
  const codes = new Set<ErrorCode>(['bad_request', 'throttled', 'unavailable', ...(route.errors ?? [])])
  const isWrite = route.method !== 'GET'
  if (route.access !== 'open') codes.add('not_authenticated').add('invalid_token')
  if (route.access !== 'open' && isWrite) codes.add('csrf_failed')
  if (route.access !== 'open' && route.access !== 'viewer') codes.add('permission_denied')
  if (/:|\*/.test(route.path) || route.envelope) codes.add('not_found')
  if (isFile(route)) codes.add('invalid_range')
  if (isWrite) codes.add('body_too_large').add('unsupported_media_type')
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(errorStatus[code], [...(byStatus.get(errorStatus[code]) ?? []), code])
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, of]) => [
        status,
        { description: of.join(', '), content: { [JSON_TYPE]: { schema: ref('Error') } } },
      ]),
  )
}

const text = { type: 'string' }
const integer = { type: 'integer' }
const integers = { type: 'array', items: integer }

const ERROR: Json = {
  type: 'object',
  description:
    'The one error shape: detail, message and error are the same text. Some endpoints add keys of their own.',
  required: ['detail', 'message', 'error', 'code'],
  properties: {
    detail: text,
    message: text,
    error: text,
    code: { enum: Object.keys(errorStatus) },
    fields: {
      type: 'object',
      description: 'Body path or query name → what is wrong with it',
      additionalProperties: text,
    },
    said: Said,
  },
}

const PAGINATE: Json = {
  ...closed({
    page_size: integer,
    page_from: integer,
    prev_pages: integers,
    current_page: integer,
    max_hits: { type: 'boolean' },
    params: text,
    last_page: integer,
    next_pages: integers,
    total_hits: { type: 'integer', maximum: 10_000 },
  }),
  description: 'last_page is 0 on the last page, and where there is only one',
}

const CLIENT_CONFIG: Json = { type: 'object', description: 'The settings that clients receive' }
