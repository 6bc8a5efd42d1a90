/** The caller's own podcasts over the API: list, create, delete, and export as OPML. */
import {
  type Actor,
  bytes,
  defineRemoval,
  defineRoute,
  errors,
  isAppError,
  isBlank,
  isId,
  ownUrl,
  Type,
} from 'archivolt'
import type { App } from './app.ts'
import { type Feed, KINDS } from './feeds.ts'
import { makeSounds } from './make-sounds-task.ts'
import { opmlOf } from './opml.ts'

const FeedRecord = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum([...KINDS]),
  target: Type.String(),
  title: Type.Union([Type.String(), Type.Null()], {
    description: 'null: its target no longer exists, or is hidden from the caller',
  }),
  url: Type.String({ description: 'opens the feed to anybody who knows it' }),
})

async function recordOf(feed: Feed, base: string, actor: Actor, { contents, feeds }: App) {
  const { id, kind, target } = feed
  const title = await contents.headOf(feed, actor).then((head) => head.title, absent)
  return { id, kind, target, title, url: `${feeds.addressOf(feed, base)}/feed.xml` }
}

function absent(thrown: unknown): null {
  if (isAppError(thrown, 'not_found')) return null
  throw thrown
}

export const listFeeds = defineRoute({
  method: 'GET',
  path: '/api/podcast/',
  access: 'viewer',
  scope: 'none',
  summary: 'The caller’s podcasts, with the addresses of their feeds',
  reply: Type.Array(FeedRecord),
  async handle({ actor, request }, app: App) {
    const base = ownUrl(request, app)
    const records = []
    for (const feed of app.feeds.ofUser(actor.id)) records.push(await recordOf(feed, base, actor, app))
    return records
  },
})

export const makeFeed = defineRoute({
  method: 'POST',
  path: '/api/podcast/',
  access: 'viewer',
  scope: 'none',
  summary: 'Create a podcast from a channel, playlist, group or search; an existing one is returned',
  body: Type.Object({
    kind: Type.Enum([...KINDS]),
    target: Type.String({ minLength: 1, maxLength: 200, description: 'its id, or the words of a search for videos' }),
  }),
  reply: FeedRecord,
  errors: ['bad_request', 'not_found', 'conflict'],
  async handle({ body: { kind, target: given }, actor, request }, app: App) {
    const base = ownUrl(request, app)
    const target = given.trim()
    if (kind === 'search' ? isBlank(target) : !isId(target))
      throw errors.wrongField('target', kind === 'search' ? 'must not be blank' : 'is not an id')
    await app.contents.headOf({ kind, target }, actor)
    const feed = await app.feeds.make(actor.id, kind, target, base)
    await app.jobs.start(makeSounds)
    return recordOf(feed, base, actor, app)
  },
})

export const endFeed = defineRemoval({
  path: '/api/podcast/:feedId/',
  access: 'viewer',
  scope: 'none',
  summary: 'End one of the caller’s podcasts: its address stops working',
  errors: ['not_found'],
  remove: (id, app: App, actor) => app.feeds.end(id, actor.id),
})

export const listAsOpml = defineRoute({
  method: 'GET',
  path: '/api/podcast/opml/',
  access: 'viewer',
  scope: 'none',
  summary: 'The caller’s podcasts as OPML, for apps to import',
  reply: Type.String(),
  replyType: 'text/x-opml',
  async handle({ actor, request, headers }, app: App) {
    const base = ownUrl(request, app)
    const listed = []
    for (const feed of app.feeds.ofUser(actor.id)) {
      const head = await app.contents.headOf(feed, actor).catch(absent)
      if (head)
        listed.push({ title: head.title, url: `${app.feeds.addressOf(feed, base)}/feed.xml`, page: base + head.page })
    }
    headers.set('content-disposition', 'attachment; filename="archivolt.opml"')
    return bytes(opmlOf(listed), 'text/x-opml; charset=utf-8')
  },
})
