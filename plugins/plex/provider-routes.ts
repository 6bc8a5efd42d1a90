/** The metadata provider itself, for a Plex server: opened by its address alone, with the view of one account. */
import { type Actor, defineRoute, errors, file, idInName, isAppError, ownUrl, ROW_PATTERN, Type } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { App } from './app.ts'
import { type Items, openItems, type Page, type Part } from './items.ts'
import { type Key, readKey } from './keys.ts'
import { isSet, MatchBody, matchesOf } from './match.ts'
import { container, type Image, type Item, provider } from './records.ts'

const own = {
  providerId: Type.String({ pattern: ROW_PATTERN }),
  signed: Type.String({
    pattern: '^[A-Za-z0-9_.-]{1,160}$',
    description: 'the signature in the address of the provider',
  }),
}
const Own = Type.Object(own)
const OfItem = Type.Object({ ...own, ratingKey: Type.String({ pattern: '^[A-Za-z0-9_-]{1,160}$' }) })
const START = 'X-Plex-Container-Start'
const SIZE = 'X-Plex-Container-Size'
const TOTAL = 'X-Plex-Container-Total-Size'
const COUNT = Type.Integer({ minimum: 0, maximum: 999_999_999 })
const paging = {
  [START]: Type.Optional(
    Type.Integer({
      ...COUNT,
      description: 'number of the first item, from 1 (or from 0, if it is a multiple of the size); also as a header',
    }),
  ),
  [SIZE]: Type.Optional(Type.Integer({ ...COUNT, description: 'at most 1000; also as a header' })),
}
const withChildren = { includeChildren: Type.Optional(Type.Integer({ minimum: 0, maximum: 1 })) }
const shared = { access: 'viewer', signedInPath: true } as const
const get = { ...shared, method: 'GET' } as const
const Container = Type.Object({
  MediaContainer: Type.Object({ totalSize: Type.Integer() }, { additionalProperties: true }),
})
/** The default page size in Plex's documentation. */
const PAGE_SIZE = 20
const LARGEST_PAGE = 1000

interface Asked {
  params: { providerId: string }
  actor: Actor
  request: Parameters<App['publicUrl']>[0] & { headers: Readonly<Record<string, string | undefined>> }
}

/** @throws not_found: the address was deleted */
function itemsFor({ params, actor, request }: Asked, app: App): { items: Items; address: string } {
  const id = Number(params.providerId)
  app.providers.mustBe(id, actor.id)
  const base = ownUrl(request, app)
  const address = app.providers.addressOf(id, actor.id, base)
  return { items: openItems(app, { actor, address }), address }
}

/** @throws not_found */
function keyIn({ ratingKey }: { ratingKey: string }, isCollection = false): Key {
  const key = readKey(ratingKey)
  if (!key || (key.type === 'collection') !== isCollection) throw errors.notFound('item')
  return key
}

type Paging = { readonly [name in typeof START | typeof SIZE]?: number | undefined }

/** @throws bad_request: a header that is not a number */
function pageOf({ request }: Pick<Asked, 'request'>, query: Paging): Page {
  const asked = (name: typeof START | typeof SIZE): number | undefined => {
    const header = request.headers[name.toLowerCase()]
    if (header === undefined) return query[name]
    if (!/^\d{1,9}$/.test(header)) throw errors.wrongField(name, 'must be a whole number')
    return Number(header)
  }
  const [start, size] = [asked(START) ?? 1, asked(SIZE) ?? PAGE_SIZE]
  // Providers count from 1, Plex servers themselves from 0; the latter start at a multiple of the page size.
  const isFromZero = start === 0 || (size > 1 && start % size === 0)
  return { offset: isFromZero ? start : start - 1, size: Math.min(size, LARGEST_PAGE) }
}

function told({ items, offset, total }: Part, headers: { set(name: string, value: string): void }) {
  headers.set(START, String(offset))
  headers.set(TOTAL, String(total))
  return container(items, { offset, total })
}

const imagesOf = (item: Item) => container((item['Image'] as Image[] | undefined) ?? [], { name: 'Image' })

export const showProvider = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/',
  summary: 'What the metadata provider offers a Plex server',
  params: Own,
  reply: Type.Object({ MediaProvider: Type.Object({}, { additionalProperties: true }) }),
  errors: ['not_found'],
  handle(input, app: App) {
    app.providers.mustBe(Number(input.params.providerId), input.actor.id)
    return provider(app.version)
  },
})

export const findMatches = defineRoute({
  ...shared,
  method: 'POST',
  path: '/plex/:providerId/:signed/library/metadata/matches/',
  summary: 'Which show, season or episode a Plex server means',
  params: Own,
  body: MatchBody,
  reply: Container,
  errors: ['bad_request', 'not_found'],
  async handle(input, app: App) {
    const { body, actor } = input
    const { items, address } = itemsFor(input, app)
    const found: Item[] = []
    for (const key of await matchesOf(body, { actor, address }, items, app)) {
      const item = await items.item(key)
      found.push(isSet(body.includeChildren) ? await items.withChildren(item, key) : item)
    }
    return container(found)
  },
})

export const showItem = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/metadata/:ratingKey/',
  summary: 'A show, season or episode for a Plex server',
  params: OfItem,
  query: withChildren,
  reply: Container,
  errors: ['not_found'],
  async handle(input, app: App) {
    const key = keyIn(input.params)
    const { items } = itemsFor(input, app)
    const item = await items.item(key)
    return container([input.query.includeChildren === 1 ? await items.withChildren(item, key) : item])
  },
})

const part = (below: 'children' | 'grandchildren', summary: string) =>
  defineRoute({
    ...get,
    path: `/plex/:providerId/:signed/library/metadata/:ratingKey/${below}/`,
    summary,
    params: OfItem,
    query: paging,
    reply: Container,
    errors: ['not_found'],
    async handle(input, app: App) {
      const page = pageOf(input, input.query)
      return told(await itemsFor(input, app).items[below](keyIn(input.params), page), input.headers)
    },
  })
export const listChildren = part('children', 'The seasons of a show, or the episodes of a season, for a Plex server')
export const listGrandchildren = part('grandchildren', 'All episodes of a show for a Plex server')

export const listImages = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/metadata/:ratingKey/images/',
  summary: 'The pictures of a show, season or episode for a Plex server',
  params: OfItem,
  reply: Container,
  errors: ['not_found'],
  handle: async (input, app: App) => imagesOf(await itemsFor(input, app).items.item(keyIn(input.params))),
})

export const listExtras = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/metadata/:ratingKey/extras/',
  summary: 'The extras of an item for a Plex server: none',
  params: OfItem,
  reply: Container,
  errors: ['not_found'],
  async handle(input, app: App) {
    await itemsFor(input, app).items.item(keyIn(input.params))
    return container([])
  },
})

export const showCollection = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/collections/:ratingKey/',
  summary: 'A playlist as a collection for a Plex server',
  params: OfItem,
  reply: Container,
  errors: ['not_found'],
  handle: async (input, app: App) => container([await itemsFor(input, app).items.item(keyIn(input.params, true))]),
})

export const listCollection = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/collections/:ratingKey/children/',
  summary: 'The episodes in a playlist for a Plex server, in its order',
  params: OfItem,
  query: paging,
  reply: Container,
  errors: ['not_found'],
  async handle(input, app: App) {
    const page = pageOf(input, input.query)
    return told(await itemsFor(input, app).items.children(keyIn(input.params, true), page), input.headers)
  },
})

export const listCollectionImages = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/library/collections/:ratingKey/images/',
  summary: 'The pictures of a playlist for a Plex server',
  params: OfItem,
  reply: Container,
  errors: ['not_found'],
  handle: async (input, app: App) => imagesOf(await itemsFor(input, app).items.item(keyIn(input.params, true))),
})

const ART = ['video', 'channel_thumb', 'channel_tvart', 'playlist'] as const satisfies readonly ArtKind[]

export const showPicture = defineRoute({
  ...get,
  path: '/plex/:providerId/:signed/picture/:kind/:file',
  summary: 'A picture to which the metadata provider refers',
  params: Type.Object({
    ...own,
    kind: Type.Enum([...ART]),
    file: Type.String({ pattern: '^[A-Za-z0-9_-]{1,128}\\.jpg$' }),
  }),
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle(input, app: App) {
    const { kind, file: name } = input.params
    const { items } = itemsFor(input, app)
    const id = idInName(name, '.jpg')!
    if (!app.media.showsArt(kind, input.actor.view) || !(await isSeen(kind, id, items, app)))
      throw errors.notFound('picture')
    return file(app.media.artPathOf(kind, id), 'image/jpeg')
  },
})

async function isSeen(kind: (typeof ART)[number], id: string, items: Items, { videos, channels }: App) {
  if (kind === 'video') return (await videos.known([id])).has(id)
  if (kind !== 'playlist') return (await channels.known([id])).has(id)
  return items.item({ type: 'collection', playlist: id }).then(
    () => true,
    (thrown: unknown) => {
      if (isAppError(thrown, 'not_found')) return false
      throw thrown
    },
  )
}
