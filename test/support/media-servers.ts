/**
 * Stand-ins for media servers, written from Jellyfin's source, from PlexAPI's requests to Plex, and from what Emby has
 * in common with Jellyfin. Each reads films from folders when it is told to scan, and has playlists. They enforce the
 * same limits of API keys as the originals.
 */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { listening } from './listening.ts'

export const KEY = 'k3y'

export interface Call {
  method: string
  path: string
  query: URLSearchParams
  headers: IncomingMessage['headers']
  body: any
}

export interface StandIn {
  url: string
  /** All requests, without the key. */
  calls: Call[]
  /** `isLost`: the request is carried out, but its answer is lost. */
  answers: { isLost(call: Call): boolean }
  /** Reads its folders again, which a real one does some time after the request. */
  scan(): void
  /** The films of each playlist in order, without their folders, by the playlist's name. */
  playlists(): Record<string, string[]>
  /**
   * Creates a playlist as a user does there.
   * @returns its id
   */
  makePlaylist(name: string, films: readonly string[]): string
  /** For everything else that a user does with a playlist: the server's own record of it, with the ids of its films. */
  readonly lists: Map<string, List>
}

export interface List {
  id: string
  name: string
  owner: string
  isPublic: boolean
  items: Array<{ entry: string; item: string }>
}

interface Reply {
  status: number
  body?: unknown
}

const OK = (body?: unknown): Reply => ({ status: body === undefined ? 204 : 200, body })
const refuse = (status: number): Reply => ({ status })

type Route = [method: string, path: RegExp, answer: (call: Call, ...parts: string[]) => Reply]

/** The films of folders, with ids from `idOf`. */
function openLibrary(folder: string, idOf: (path: string) => string) {
  let items: Array<{ id: string; path: string; added: number }> = []
  let scans = 0
  return {
    folder,
    scan() {
      scans++
      const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : []
      const paths = names.map((name) => join(folder, name)).filter((path) => /\.(mp4|m4a)$/.test(path))
      items = paths.map((path) => items.find((one) => one.path === path) ?? { id: idOf(path), path, added: scans })
    },
    /** Newest first. */
    items: () => [...items].sort((one, other) => other.added - one.added),
  }
}

async function serve(
  t: TestContext,
  routes: readonly Route[],
  isAllowed: (call: Call) => boolean,
  write: (response: ServerResponse, reply: Reply, call: Call) => void,
) {
  const calls: Call[] = []
  const answers: StandIn['answers'] = { isLost: () => false }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const part of request) text += part
    const { pathname, searchParams } = new URL(request.url!, 'http://stand-in')
    const call: Call = {
      ...{ method: request.method!, path: decodeURIComponent(pathname), query: searchParams },
      ...{ headers: request.headers, body: text === '' ? undefined : JSON.parse(text) },
    }
    calls.push(call)
    const found = routes.find(([method, path]) => method === call.method && path.test(call.path))
    const parts = found?.[1].exec(call.path)?.slice(1) ?? []
    const reply = !isAllowed(call) ? refuse(401) : found ? found[2](call, ...parts) : refuse(404)
    if (answers.isLost(call)) response.destroy()
    else write(response, reply, call)
  })
  return { calls, answers, url: `http://${await listening(t, server)}` }
}

function writeJson(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

/** The administrator of a Jellyfin server. */
export const OWNER = '0a1b2c3d4e5f40718293a4b5c6d7e8f9'
const hash = (text: string): string => createHash('md5').update(text).digest('hex')

function openLists(films: () => ReadonlyArray<{ id: string; path: string }>, newId: () => string) {
  const lists = new Map<string, List>()
  const nameOf = (item: string) => basename(films().find(({ id }) => id === item)?.path ?? item)
  function make(name: string, items: readonly string[], owner = OWNER, isPublic = false): List {
    const list = { id: newId(), name, owner, isPublic, items: items.map((item) => ({ entry: newId(), item })) }
    lists.set(list.id, list)
    return list
  }
  return {
    lists,
    make,
    playlists: () =>
      Object.fromEntries([...lists.values()].map(({ name, items }) => [name, items.map((one) => nameOf(one.item))])),
    makePlaylist: (name: string, wanted: readonly string[]) =>
      make(
        name,
        wanted.map((one) => films().find(({ path }) => path.endsWith(one))!.id),
        'somebody',
      ).id,
  }
}

/** @param kind  Emby has other ids, an id for each entry of a playlist, and reads the key from another header */
export async function aJellyfin(
  t: TestContext,
  folder: string,
  kind: 'jellyfin' | 'emby' = 'jellyfin',
): Promise<StandIn> {
  let last = 100
  const machine = hash(randomUUID())
  const isEmby = kind === 'emby'
  const library = openLibrary(folder, (path) => (isEmby ? String(++last) : hash(path)))
  const { lists, make, ...rest } = openLists(library.items, () => (isEmby ? String(++last) : hash(randomUUID())))
  const entryOf = ({ entry, item }: List['items'][number]) => (isEmby ? entry : item)
  /** Parameter names are case-insensitive. */
  const asked = ({ query }: Call, name: string): string | undefined =>
    [...query].find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1]
  /** Separated by commas, or repeated. */
  const idsIn = ({ query }: Call, name: string) =>
    [...query].filter(([key]) => key.toLowerCase() === name.toLowerCase()).flatMap(([, ids]) => ids.split(','))
  const toDto = ({ id, path }: { id: string; path: string }, call: Call) => ({
    ...{ Id: id, Name: basename(path), Type: 'Episode', MediaType: 'Video' },
    ...((asked(call, 'Fields') ?? '').split(',').includes('Path') && { Path: path }),
  })
  const page = (call: Call, all: object[]): Reply => {
    const start = Number(asked(call, 'StartIndex') ?? 0)
    const Items = all.slice(start, start + Number(asked(call, 'Limit') ?? all.length))
    return OK({ Items, TotalRecordCount: all.length, StartIndex: start })
  }
  const within = (call: Call, id: string, work: (list: List) => Reply): Reply => {
    const list = lists.get(id)
    if (!list) return refuse(404)
    return list.owner === asked(call, 'UserId') ? work(list) : refuse(403)
  }
  const add = (list: List, items: readonly string[]) =>
    list.items.push(
      ...items
        .filter((item) => library.items().some(({ id }) => id === item))
        .map((item) => ({ entry: String(++last), item })),
    )

  const routes: Route[] = [
    ['GET', /^\/System\/Info(?:\/Public)?$/, () => OK({ ServerName: kind, Version: '12.0.0', Id: machine })],
    [
      'GET',
      /^\/Users$/,
      () =>
        OK([
          { Id: hash('child'), Name: 'child', Policy: { IsAdministrator: false, IsDisabled: false } },
          { Id: OWNER, Name: 'admin', Policy: { IsAdministrator: true, IsDisabled: false } },
        ]),
    ],
    [
      'GET',
      /^\/Library\/VirtualFolders$/,
      () =>
        OK([
          { Name: 'Films', Locations: ['/films'], ItemId: hash('films') },
          { Name: 'TV', Locations: [library.folder], CollectionType: 'tvshows', ItemId: hash('tv') },
        ]),
    ],
    ['POST', /^\/Library\/Media\/Updated$/, () => OK()],
    [
      'GET',
      /^(?:\/Users\/[^/]+)?\/Items$/,
      (call) => {
        if (asked(call, 'IncludeItemTypes') === 'Playlist')
          return page(
            call,
            [...lists.values()].map(({ id, name }) => ({ Id: id, Name: name, Type: 'Playlist' })),
          )
        if (asked(call, 'Recursive') !== 'true' || asked(call, 'ParentId') !== hash('tv')) return page(call, [])
        const isNewest = asked(call, 'SortBy') === 'DateCreated' && asked(call, 'SortOrder') === 'Descending'
        const items = isNewest ? library.items() : library.items().reverse()
        return page(
          call,
          items.map((item) => toDto(item, call)),
        )
      },
    ],
    [
      'POST',
      /^\/Playlists$/,
      (call) => {
        // A body without the name is refused, even if the query has it.
        if (!isEmby && call.body && call.body.Name === undefined) return refuse(400)
        const name = asked(call, 'Name') ?? call.body?.Name
        const ids = idsIn(call, 'Ids')
        const list = make(name, [], asked(call, 'UserId') ?? call.body?.UserId, call.body?.IsPublic ?? false)
        add(list, ids.length > 0 ? ids : (call.body?.Ids ?? []))
        return OK({ Id: list.id })
      },
    ],
    [
      'GET',
      /^\/Playlists\/([^/]+)\/Items$/,
      (call, id) => {
        const list = lists.get(id!)
        if (!list) return refuse(404)
        if (!list.isPublic && list.owner !== asked(call, 'UserId')) return refuse(403)
        const films = new Map(library.items().map((one) => [one.id, one]))
        return page(
          call,
          list.items
            .filter(({ item }) => films.has(item))
            .map((one) => ({ ...toDto(films.get(one.item)!, call), PlaylistItemId: entryOf(one) })),
        )
      },
    ],
    [
      'POST',
      /^\/Playlists\/([^/]+)\/Items$/,
      (call, id) =>
        within(call, id!, (list) => {
          add(list, idsIn(call, 'Ids'))
          return OK()
        }),
    ],
    [
      'DELETE',
      /^\/Playlists\/([^/]+)\/Items$/,
      (call, id) => {
        const list = lists.get(id!)
        if (!list) return refuse(404)
        const gone = idsIn(call, 'EntryIds')
        list.items = list.items.filter((one) => !gone.includes(entryOf(one)))
        return OK()
      },
    ],
    // Moving an entry requires an account; a key is not enough.
    ['POST', /^\/Playlists\/[^/]+\/Items\/[^/]+\/Move\/\d+$/, () => refuse(403)],
    ['POST', /^\/Playlists\/[^/]+$/, () => refuse(403)],
    ['DELETE', /^\/Items\/([^/]+)$/, (_, id) => (lists.delete(id!) ? OK() : refuse(404))],
  ]
  const isAllowed = ({ headers, path }: Call): boolean =>
    path === '/System/Info/Public' ||
    (isEmby ? headers['x-emby-token'] === KEY : /Token="?([^",]+)/.exec(headers.authorization ?? '')?.[1] === KEY)
  return { ...(await serve(t, routes, isAllowed, writeJson)), lists, scan: library.scan, ...rest }
}

export async function aPlex(t: TestContext, folder: string): Promise<StandIn> {
  let last = 1000
  const machine = hash(randomUUID())
  const newId = () => String(++last)
  const library = openLibrary(folder, newId)
  const { lists, make, ...rest } = openLists(library.items, newId)
  const container = (rows: object[], call?: Call): Reply => {
    const start = Number(call?.query.get('X-Plex-Container-Start') ?? call?.headers['x-plex-container-start'] ?? 0)
    const size = Number(
      call?.query.get('X-Plex-Container-Size') ?? call?.headers['x-plex-container-size'] ?? rows.length,
    )
    const Metadata = rows.slice(start, start + size)
    return OK({ MediaContainer: { size: Metadata.length, totalSize: rows.length, offset: start, Metadata } })
  }
  const toEpisode = ({ id, path }: { id: string; path: string }) => ({
    ...{ ratingKey: id, key: `/library/metadata/${id}`, type: 'episode', title: basename(path), librarySectionID: 7 },
    Media: [{ id: Number(id), Part: [{ id: Number(id), key: `/library/parts/${id}/file.mp4`, file: path }] }],
  })
  const toList = ({ id, name, items }: List) => ({
    ...{ ratingKey: id, key: `/playlists/${id}/items`, type: 'playlist', title: name, smart: false },
    ...{ playlistType: 'video', leafCount: items.length },
  })
  const keysIn = ({ query }: Call): string[] =>
    (query.get('uri') ?? '').startsWith(`server://${machine}/com.plexapp.plugins.library/library/metadata/`)
      ? query.get('uri')!.split('/').at(-1)!.split(',')
      : []
  const add = (list: List, keys: readonly string[]) =>
    list.items.push(
      ...keys.filter((key) => library.items().some(({ id }) => id === key)).map((item) => ({ entry: newId(), item })),
    )
  const within = (id: string, work: (list: List) => Reply): Reply => {
    const list = lists.get(id)
    return list ? work(list) : refuse(404)
  }

  const routes: Route[] = [
    ['GET', /^\/(?:identity)?$/, () => OK({ MediaContainer: { machineIdentifier: machine, version: '1.43.2' } })],
    [
      'GET',
      /^\/library(?:\/sections)?$/,
      () =>
        OK({
          MediaContainer: {
            Directory: [
              { key: '1', type: 'movie', title: 'Films', Location: [{ id: 1, path: '/films' }] },
              { key: '7', type: 'show', title: 'TV', Location: [{ id: 2, path: library.folder }] },
            ],
          },
        }),
    ],
    ['GET', /^\/library\/sections\/7\/refresh$/, () => OK()],
    [
      'GET',
      /^\/library\/sections\/7\/all$/,
      (call) => {
        if (call.query.get('type') !== '4') return container([], call)
        const isNewest = call.query.get('sort') === 'addedAt:desc'
        const items = isNewest ? library.items() : library.items().reverse()
        return container(items.map(toEpisode), call)
      },
    ],
    ['GET', /^\/playlists$/, (call) => container([...lists.values()].map(toList), call)],
    [
      'POST',
      /^\/playlists$/,
      (call) => {
        const keys = keysIn(call)
        if (keys.length === 0 || !call.query.get('title')) return refuse(400)
        const list = make(call.query.get('title')!, [])
        add(list, keys)
        return container([toList(list)])
      },
    ],
    ['GET', /^\/playlists\/(\d+)$/, (_, id) => within(id!, (list) => container([toList(list)]))],
    [
      'PUT',
      /^\/playlists\/(\d+)$/,
      (call, id) =>
        within(id!, (list) => {
          list.name = call.query.get('title') ?? list.name
          return OK('')
        }),
    ],
    ['DELETE', /^\/playlists\/(\d+)$/, (_, id) => within(id!, () => OK(lists.delete(id!) ? '' : undefined))],
    [
      'GET',
      /^\/playlists\/(\d+)\/items$/,
      (call, id) =>
        within(id!, ({ items }) => {
          const films = new Map(library.items().map((one) => [one.id, one]))
          const there = items.filter(({ item }) => films.has(item))
          return container(
            there.map(({ item, entry }) => ({ ...toEpisode(films.get(item)!), playlistItemID: Number(entry) })),
            call,
          )
        }),
    ],
    [
      'PUT',
      /^\/playlists\/(\d+)\/items$/,
      (call, id) =>
        within(id!, (list) => {
          add(list, keysIn(call))
          return container([toList(list)])
        }),
    ],
    [
      'DELETE',
      /^\/playlists\/(\d+)\/items\/(\d+)$/,
      (_, id, entry) =>
        within(id!, (list) => {
          list.items = list.items.filter((one) => one.entry !== entry)
          return container([toList(list)])
        }),
    ],
    [
      'PUT',
      /^\/playlists\/(\d+)\/items\/(\d+)\/move$/,
      (call, id, entry) =>
        within(id!, (list) => {
          const from = list.items.findIndex((one) => one.entry === entry)
          if (from < 0) return refuse(404)
          const [moved] = list.items.splice(from, 1)
          const after = call.query.get('after')
          list.items.splice(after === null ? 0 : list.items.findIndex((one) => one.entry === after) + 1, 0, moved!)
          return container([toList(list)])
        }),
    ],
  ]
  const isAllowed = ({ headers, query, path }: Call): boolean =>
    path === '/identity' || headers['x-plex-token'] === KEY || query.get('X-Plex-Token') === KEY
  return { ...(await serve(t, routes, isAllowed, writeAsked)), lists, scan: library.scan, ...rest }
}

/** Plex answers in XML unless the client asks for JSON. */
function writeAsked(response: ServerResponse, reply: Reply, call: Call): void {
  if (call.headers.accept === 'application/json' || typeof reply.body !== 'object') return writeJson(response, reply)
  response.writeHead(reply.status, { 'content-type': 'text/xml;charset=utf-8' })
  response.end(toXml('MediaContainer', (reply.body as { MediaContainer: object }).MediaContainer))
}

const TAGS: Record<string, string> = { episode: 'Video', playlist: 'Playlist' }
const escaped = (text: string): string => text.replace(/[<>&"']/g, (character) => `&#${character.codePointAt(0)};`)

function toXml(name: string, value: object): string {
  const entries = Object.entries(value)
  const texts = entries
    .filter(([, one]) => !Array.isArray(one))
    .map(([key, one]) => ` ${key}="${escaped(typeof one === 'boolean' ? String(Number(one)) : String(one))}"`)
  const children = entries.flatMap(([key, one]) =>
    Array.isArray(one) ? one.map((each) => toXml(key === 'Metadata' ? TAGS[each.type]! : key, each)) : [],
  )
  return `<${name}${texts.join('')}>${children.join('')}</${name}>`
}
