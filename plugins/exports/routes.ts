/**
 * Routes for exports (contract B). A preview changes nothing. Subscribing is a separate request, and so is importing
 * watched videos and playlists, for which the file is sent again.
 */
import { type Actor, chunksOf, defineRoute, epochSeconds, errors, type Static, say, Type } from 'archivolt'
import type { App } from './app.ts'
import { EMPTY, type FoundRow, SOURCES } from './found.ts'
import { type ListHere, listsHere, seenHere, takeLists, takeSeen } from './taking.ts'
import { MOST_BYTES } from './upload.ts'

const Subscription = Type.Object({
  type: Type.Enum(['channel', 'playlist']),
  id: Type.String(),
  name: Type.String(),
  is_subscribed: Type.Boolean(),
})
type Subscription = Static<typeof Subscription>

/** Number of left-out entries that are returned by name. */
const MOST_NAMED = 100
const AT_ONCE = 500

const History = Type.Object({
  count: Type.Integer({ description: 'number of watched videos in the export' }),
  watched: Type.Integer({ description: 'number of those in the archive that count as watched' }),
  positions: Type.Integer({ description: 'number of those in the archive that were started, with a known position' }),
  left_out: Type.Integer({ description: 'number of the oldest watched videos beyond 100,000, which are left out' }),
})
const OwnList = Type.Object({
  name: Type.String(),
  count: Type.Integer(),
  here: Type.Integer({ description: 'number of its videos in the archive' }),
  missing: Type.Array(Type.String(), { description: 'at most 500 ids of its videos that are not in the archive' }),
})
const MOST_MISSING = 500
const FILE_NAME = Type.Optional(
  Type.String({
    maxLength: 300,
    description: 'name of the uploaded file, from which a single playlist of Google Takeout gets its name',
  }),
)

const toOwnList = ({ name, count, here, missing }: ListHere) => ({
  name,
  count,
  here: here.length,
  missing: missing.slice(0, MOST_MISSING),
})

export const previewExport = defineRoute({
  method: 'POST',
  path: '/api/subscription/preview/',
  access: 'admin',
  summary: 'Preview an export of another program: subscriptions, watched videos, playlists; changes nothing',
  query: { name: FILE_NAME },
  rawBody: { contentType: 'application/octet-stream', maxBodyBytes: MOST_BYTES },
  reply: Type.Object({
    source: Type.Enum([...SOURCES]),
    subscriptions: Type.Array(Subscription),
    skipped: Type.Array(Type.String()),
    skipped_count: Type.Integer(),
    history: History,
    playlists: Type.Array(OwnList),
  }),
  errors: ['body_too_large', 'unprocessable', 'unavailable'],
  async handle({ query: { name }, request, signal }, app: App) {
    const found = await app.exports.read(request.stream, signal, name)
    const { source, rows, foreign, seenLeftOut } = found
    const subscriptions = new Map<string, Subscription>()
    const skipped = [...foreign]
    for (const some of chunksOf(rows, AT_ONCE)) {
      const found: Subscription[] = []
      for (const row of some) {
        const one = subscriptionOf(row, app)
        if (one) found.push(named(one, subscriptions.get(one.id)))
        else skipped.push(row.name || row.text)
      }
      await markSubscribed(found, app)
      for (const one of found) subscriptions.set(one.id, one)
      // Checks thousands of entries in time slices, so that other requests can run in between.
      await new Promise(setImmediate)
    }
    const { count, here } = await seenHere(found, epochSeconds(app.clock), app)
    if (subscriptions.size + foreign.length + count + found.lists.length === 0) throw errors.unprocessable(EMPTY)
    const positions = here.filter(({ seconds }) => seconds !== undefined).length
    return {
      history: { count, watched: here.length - positions, positions, left_out: seenLeftOut },
      playlists: (await listsHere(found, app)).map(toOwnList),
      source,
      subscriptions: [...subscriptions.values()],
      skipped: skipped.slice(0, MOST_NAMED),
      skipped_count: skipped.length,
    }
  },
})

export const takeExport = defineRoute({
  method: 'POST',
  path: '/api/subscription/history/',
  access: 'admin',
  summary: 'Import watched videos and playlists from an export of another program, for one account',
  query: {
    user: Type.Optional(Type.String({ maxLength: 150, description: 'name of the account; default: the caller' })),
    watched: Type.Optional(Type.Boolean({ description: 'import marks and positions' })),
    playlists: Type.Optional(Type.Boolean({ description: 'import playlists, as private ones' })),
    name: FILE_NAME,
  },
  rawBody: { contentType: 'application/octet-stream', maxBodyBytes: MOST_BYTES },
  reply: Type.Object({
    user: Type.String(),
    watched: Type.Integer(),
    positions: Type.Integer(),
    playlists: Type.Integer(),
  }),
  errors: ['bad_request', 'body_too_large', 'unprocessable', 'conflict', 'unavailable'],
  async handle({ query: { user, watched, playlists, name }, request, signal, actor }, app: App) {
    if (!watched && !playlists)
      throw errors.badRequest('watched or playlists is required', { fields: { watched: 'or playlists' } })
    const who = accountOf(user, actor, app)
    const found = await app.exports.read(request.stream, signal, name)
    const { here } = watched ? await seenHere(found, epochSeconds(app.clock), app) : { here: [] }
    const lists = playlists ? await listsHere(found, app) : []
    const seen = await takeSeen(who.id, here, app, signal)
    return { user: who.username, ...seen, playlists: await takeLists(who, lists, app) }
  },
})

/** @throws unprocessable: there is no such account */
function accountOf(name: string | undefined, actor: Actor, { accounts }: Pick<App, 'accounts'>): Actor {
  if (name === undefined || name === '' || name === actor.username) return actor
  const found = accounts.list().find(({ username }) => username === name)
  if (!found) throw errors.unprocessable(say`There is no account “${{ name }}”`)
  return { id: found.id, username: name, isAdmin: false, mayDownload: false, via: 'none' }
}

/** The subscription of an entry; undefined: it is neither a channel nor a playlist of the platform. */
function subscriptionOf({ text, name }: FoundRow, { platform }: App): Subscription | undefined {
  if (/\s/.test(text)) return undefined
  const [target] = platform.targetsIn(text)
  if (!target || target.type === 'video') return undefined
  if (target.type === 'playlist')
    return isOwnList(target.id) ? undefined : { type: 'playlist', id: target.id, name, is_subscribed: false }
  // If an entry has neither an id nor a handle, its URL is requested.
  const id = target.isHandle && !target.id.startsWith('@') ? text : target.id
  return { type: 'channel', id, name, is_subscribed: false }
}

/** Whether the playlist is a custom one, or a list that every account has: nobody else can see those. */
const isOwnList = (id: string): boolean => id.includes('_playlist_') || id === 'WL' || id === 'LL'

/** Duplicates get the name of whichever has one. */
const named = (one: Subscription, other: Subscription | undefined): Subscription =>
  other?.name ? { ...one, name: other.name } : one

async function markSubscribed(some: readonly Subscription[], { channels, playlists }: App): Promise<void> {
  const ids = (type: Subscription['type']) => some.flatMap((one) => (one.type === type ? [one.id] : []))
  const [known, lists] = await Promise.all([
    channels.collection.getMany(ids('channel')),
    playlists.collection.getMany(ids('playlist')),
  ])
  for (const one of some)
    one.is_subscribed =
      one.type === 'channel'
        ? (known.get(one.id)?.channel_subscribed ?? false)
        : (lists.get(one.id)?.playlist_subscribed ?? false)
}
