/** Routes for media servers (contract 9.26). Keys are accepted, but never returned. */
import {
  defineRemoval,
  defineRoute,
  mustBeWebUrl,
  mustNotBeBlank,
  Name,
  ROW_PATTERN,
  Said,
  saidOf,
  Type,
  WebUrl,
} from 'archivolt'
import type { App } from '../app.ts'
import { KINDS, type ServerRow } from './tables.ts'

const Path = Type.String({ minLength: 1, maxLength: 1000, pattern: '^[^\\p{C}]*$' })
const Paths = Type.Array(Type.Array(Path, { minItems: 2, maxItems: 2 }), { maxItems: 20 })
const given = {
  name: Name,
  kind: Type.Enum([...KINDS]),
  url: WebUrl,
  key: Type.String({ maxLength: 500, pattern: '^[^\\p{C}]*$' }),
  paths: Type.Optional(Paths),
  with_playlists: Type.Optional(Type.Boolean()),
}
const Epoch = Type.Integer({ minimum: 0 })
const Server = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  kind: Type.Enum([...KINDS]),
  url: Type.String(),
  paths: Paths,
  is_on: Type.Boolean(),
  with_playlists: Type.Boolean(),
  playlists: Type.Integer({ minimum: 0 }),
  waiting: Type.Integer({ minimum: 0 }),
  created: Epoch,
  asked: Type.Optional(Epoch),
  error: Type.String(),
  said: Type.Optional(Said),
})
const Params = Type.Object({ serverId: Type.String({ pattern: ROW_PATTERN }) })

export const listServers = defineRoute({
  method: 'GET',
  path: '/api/face/server/',
  access: 'admin',
  scope: 'admin',
  summary: 'Media servers that are notified of changes in faces, with the outcome of the last request to each',
  reply: Type.Array(Server),
  handle: (_input, app: App) => app.faces.servers.rows.all().map((row) => record(row, app)),
})

export const addServer = defineRoute({
  method: 'POST',
  path: '/api/face/server/',
  access: 'admin',
  summary: 'Add a media server, and test the connection',
  body: Type.Object(given),
  reply: Server,
  errors: ['bad_request', 'conflict'],
  async handle({ body: { key, with_playlists: withPlaylists, ...server }, signal }, app: App) {
    const { servers, rows } = app.faces
    check(server)
    const { id } = await servers.add({ ...server, secret: key, withPlaylists })
    const row = await servers.test(id, rows.faces(), signal)
    await servers.noteLists()
    return record(row, app)
  },
})

export const changeServer = defineRoute({
  method: 'POST',
  path: '/api/face/server/:serverId/',
  access: 'admin',
  summary: 'Change a media server, or switch it on or off',
  params: Params,
  body: Type.Partial(Type.Object({ ...given, is_on: Type.Boolean() })),
  reply: Server,
  errors: ['bad_request'],
  async handle({ params: { serverId }, body }, app: App) {
    const { key, is_on: isOn, with_playlists: withPlaylists, ...change } = body
    check(change)
    const wanted = { ...change, secret: key, isOn, withPlaylists }
    return record(await app.faces.servers.change(Number(serverId), wanted), app)
  },
})

export const removeServer = defineRemoval({
  path: '/api/face/server/:serverId/',
  access: 'admin',
  summary: 'Remove a media server; it is no longer notified',
  remove: (id, app: App) => app.faces.servers.remove(id),
})

export const testServer = defineRoute({
  method: 'POST',
  path: '/api/face/server/:serverId/test/',
  access: 'admin',
  summary: 'Test a media server: request its folders, and find the paths under which it reads the faces',
  params: Params,
  reply: Server,
  handle: async ({ params: { serverId }, signal }, app: App) =>
    record(await app.faces.servers.test(Number(serverId), app.faces.rows.faces(), signal), app),
})

/** Checks what a schema cannot express. */
function check({ name, url }: { name?: string; url?: string }): void {
  if (name !== undefined) mustNotBeBlank(name)
  if (url !== undefined) mustBeWebUrl(url)
}

function record(row: ServerRow, app: App) {
  const { servers } = app.faces
  const { at, error } = servers.stateOf(row)
  const { texts, said } = saidOf(error === undefined ? [] : [error])
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    url: row.url ?? '',
    paths: servers.pathsOf(row),
    is_on: row.is_on === 1,
    with_playlists: row.with_playlists === 1,
    playlists: servers.rows.lists(row.id).length,
    waiting: servers.rows.waiting(row.id).length,
    created: row.created_at,
    ...(at !== undefined && { asked: at }),
    error: texts[0] ?? '',
    ...(said && { said }),
  }
}
