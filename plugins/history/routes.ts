/** Changes on the platform over HTTP (contract 9.32). */
import { defineRoute, errors, file, ID_PATTERN, listing, ROW_PATTERN, Type } from 'archivolt'
import type { ArtKind } from '../media/types.ts'
import type { App } from './app.ts'
import type { PictureValue } from './pictures.ts'
import { type Change, KINDS, type Kind, PARTS, type Wanted } from './rows.ts'

/** Number of the newest changes that are searched for those that an account with a view may see. */
const MOST_SIFTED = 5000
const Kinds = Type.Enum([...KINDS])
const Subject = Type.String({ pattern: ID_PATTERN })
const day = (description: string) => Type.Optional(Type.String({ format: 'date', description }))

const ChangeRecord = Type.Object({
  id: Type.Integer(),
  kind: Kinds,
  subject: Type.String({ description: 'id of the video, channel or playlist' }),
  title: Type.String({ description: 'of the video, channel or playlist' }),
  part: Type.Enum([...PARTS]),
  seen: Type.Integer({ description: 'epoch seconds: when the change was noticed, not when it was made' }),
  before: Type.Unknown({
    description:
      'a text, a list or seconds; of a picture, its address; of entries, those that were removed from the playlist',
  }),
  after: Type.Unknown({ description: 'like `before`; of entries, those that were added to the playlist' }),
})

export const listChanges = defineRoute({
  method: 'GET',
  path: '/api/change/',
  access: 'viewer',
  summary: 'Changes on the platform since videos, channels and playlists were archived, newest first',
  query: {
    kind: Type.Optional(Kinds),
    id: Type.Optional(
      Type.String({ pattern: ID_PATTERN, description: 'id of a video, channel or playlist; requires kind' }),
    ),
    part: Type.Optional(Type.Enum([...PARTS])),
    after: day('noticed on this day or later'),
    before: day('noticed before this day'),
  },
  envelope: 'page',
  reply: Type.Array(ChangeRecord),
  errors: ['not_found'],
  async handle({ query: { kind, id, part, after, before }, actor, page: { from, size } }, app: App) {
    if (id !== undefined && kind === undefined)
      throw errors.badRequest('id requires kind', { fields: { kind: 'is required with id' } })
    if (id !== undefined) await mustBeSeen(kind!, id, app)
    const wanted: Wanted = {
      ...{ kind, subject: id, parts: part && [part], since: secondOf(after), until: secondOf(before) },
    }
    const { changes, total } =
      actor.view && id === undefined
        ? await sifted(wanted, from, size, app)
        : { changes: app.history.rows.page(wanted, from, size), total: app.history.rows.count(wanted) }
    const shown = await Promise.all(changes.map((change) => recordOf(change, Boolean(actor.view), app)))
    return listing(
      shown.map((one) => JSON.stringify(one)),
      total,
    )
  },
})

/** Local midnight. */
const secondOf = (date: string | undefined): number | undefined =>
  date === undefined ? undefined : Math.floor(new Date(`${date}T00:00:00`).getTime() / 1000)

const collectionOf = (kind: Kind, { videos, channels, playlists }: App) =>
  ({ video: videos, channel: channels, playlist: playlists })[kind]

/** Reads of the index only return what the account sees. */
const isSeen = async (kind: Kind, id: string, app: App): Promise<boolean> =>
  (await collectionOf(kind, app).known([id])).has(id)

/** @throws not_found */
async function mustBeSeen(kind: Kind, id: string, app: App): Promise<void> {
  if (!(await isSeen(kind, id, app))) throw errors.notFound(kind, id)
}

/** The changes that an account with a view sees. */
async function sifted(
  wanted: Wanted,
  from: number,
  size: number,
  app: App,
): Promise<{ changes: Change[]; total: number }> {
  const all = app.history.rows.subjects(wanted, MOST_SIFTED)
  const open = new Map<Kind, Set<string>>()
  for (const kind of KINDS) {
    const ids = [...new Set(all.flatMap((one) => (one.kind === kind ? [one.subject] : [])))]
    open.set(kind, ids.length > 0 ? await collectionOf(kind, app).known(ids) : new Set())
  }
  const seen = all.filter(({ kind, subject }) => open.get(kind)!.has(subject))
  const changes = seen.slice(from, from + size).flatMap(({ id }) => app.history.rows.get(id) ?? [])
  return { changes, total: seen.length }
}

async function recordOf(change: Change, isLimited: boolean, app: App) {
  const { id, kind, subject, part, seenAt: seen } = change
  const isPicture = part === 'thumbnail' || part === 'picture'
  const { before, after } = isPicture ? addressesOf(change, app) : isLimited ? await openEntries(change, app) : change
  return { id, kind, subject, title: await app.media.titleOf(kind, subject), part, seen, before, after }
}

/** Omits videos that an account with a view does not see. */
async function openEntries({ part, before, after }: Change, app: App): Promise<Pick<Change, 'before' | 'after'>> {
  if (part !== 'entries') return { before, after }
  const ids = [before, after].flatMap((list) => (list as Array<{ id: string }>).map(({ id }) => id))
  const known = await app.videos.known(ids)
  const own = (list: unknown) => (list as Array<{ id: string }>).filter(({ id }) => known.has(id))
  return { before: own(before), after: own(after) }
}

const ART: Record<PictureValue['picture'], ArtKind> = {
  video: 'video',
  thumb: 'channel_thumb',
  banner: 'channel_banner',
  tvart: 'channel_tvart',
}

/** The addresses of both pictures. The file of `after` is in the next change of the same picture. */
function addressesOf(change: Change, app: App): { before: string; after: string } {
  const { picture } = change.before as PictureValue
  let next = app.history.rows.after(change)
  while (next && (next.before as PictureValue).picture !== picture) next = app.history.rows.after(next)
  const addressOf = (id: number) => `/api/change/${id}/picture/`
  return {
    before: addressOf(change.id),
    after: next ? addressOf(next.id) : app.media.artUrl(ART[picture], change.subject),
  }
}

export const showOldPicture = defineRoute({
  method: 'GET',
  path: '/api/change/:changeId/picture/',
  access: 'viewer',
  summary: 'The picture before this change',
  params: Type.Object({ changeId: Type.String({ pattern: ROW_PATTERN }) }),
  reply: Type.Unknown(),
  replyType: 'image/jpeg',
  errors: ['not_found'],
  async handle({ params: { changeId } }, app: App) {
    const change = app.history.rows.get(Number(changeId))
    const { file: name } = (change?.before ?? {}) as Partial<PictureValue>
    if (!change || name === undefined || !(await isSeen(change.kind, change.subject, app)))
      throw errors.notFound('picture', changeId)
    return file(app.history.pictures.pathOf(change.subject, name), 'image/jpeg', { immutable: true })
  },
})

export const showNumbers = defineRoute({
  method: 'GET',
  path: '/api/change/number/',
  access: 'viewer',
  summary: 'Views, likes and subscribers over time, oldest first',
  query: { kind: Type.Enum(['video', 'channel']), id: Subject },
  reply: Type.Array(
    Type.Object({
      seen: Type.Integer({ description: 'epoch seconds' }),
      views: Type.Union([Type.Integer(), Type.Null()]),
      likes: Type.Optional(Type.Union([Type.Integer(), Type.Null()], { description: 'of a video' })),
      subscribers: Type.Optional(Type.Union([Type.Integer(), Type.Null()], { description: 'of a channel' })),
    }),
  ),
  errors: ['not_found'],
  async handle({ query: { kind, id } }, app: App) {
    await mustBeSeen(kind, id, app)
    return app.history.numbers.all(kind, id).map(({ seen_at: seen, views, second }) => ({
      ...{ seen, views },
      ...(kind === 'video' ? { likes: second } : { subscribers: second }),
    }))
  },
})
