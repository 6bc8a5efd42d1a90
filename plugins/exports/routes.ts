/** What an export would subscribe to, over HTTP (contract B). Nothing is changed: subscribing is another request. */
import { chunksOf, defineRoute, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { type FoundRow, SOURCES } from './found.ts'
import { MOST_BYTES } from './reading.ts'

const Subscription = Type.Object({
  type: Type.Enum(['channel', 'playlist']),
  id: Type.String(),
  name: Type.String(),
  is_subscribed: Type.Boolean(),
})
type Subscription = Static<typeof Subscription>

/** So many of those that are left out are named. */
const MOST_NAMED = 100
const AT_ONCE = 500

export const previewExport = defineRoute({
  method: 'POST',
  path: '/api/subscription/preview/',
  access: 'admin',
  summary: 'What a file of another program would subscribe to; nothing is changed',
  rawBody: { contentType: 'application/octet-stream', maxBodyBytes: MOST_BYTES },
  reply: Type.Object({
    source: Type.Enum([...SOURCES]),
    subscriptions: Type.Array(Subscription),
    skipped: Type.Array(Type.String()),
    skipped_count: Type.Integer(),
  }),
  errors: ['body_too_large', 'unprocessable', 'unavailable'],
  async handle({ request, signal }, app: App) {
    const { source, rows, foreign } = await app.exports.read(request.stream, signal)
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
      // Thousands are looked at: others come in between.
      await new Promise(setImmediate)
    }
    return {
      source,
      subscriptions: [...subscriptions.values()],
      skipped: skipped.slice(0, MOST_NAMED),
      skipped_count: skipped.length,
    }
  },
})

/** undefined: it is neither a channel nor a playlist of the platform. */
function subscriptionOf({ text, name }: FoundRow, { platform }: App): Subscription | undefined {
  if (/\s/.test(text)) return undefined
  const [target] = platform.targetsIn(text)
  if (!target || target.type === 'video') return undefined
  if (target.type === 'playlist')
    return isOwnList(target.id) ? undefined : { type: 'playlist', id: target.id, name, is_subscribed: false }
  // What has no id and no handle is asked for by its address.
  const id = target.isHandle && !target.id.startsWith('@') ? text : target.id
  return { type: 'channel', id, name, is_subscribed: false }
}

/** Custom ones, and lists that everybody has: nobody else sees them. */
const isOwnList = (id: string): boolean => id.includes('_playlist_') || id === 'WL' || id === 'LL'

/** The same twice has the name that either tells. */
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
