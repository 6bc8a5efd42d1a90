/** Routes for the bin: list, restore, empty (contract 9.25). */
import { defineRoute, errors, listing, Said, saidOf, Type } from 'archivolt'
import type { App } from './app.ts'
import type { BinEntry, Chosen } from './types.ts'

const Entry = Type.Object({
  id: Type.Integer(),
  kind: Type.Enum(['video', 'channel', 'playlist', 'film']),
  removal: Type.String({ description: 'id of the removal, the same for all entries that were removed together' }),
  platform_id: Type.String(),
  channel_id: Type.String(),
  title: Type.String(),
  channel_name: Type.String(),
  thumb_url: Type.String(),
  media_size: Type.Integer(),
  duration: Type.Integer(),
  active: Type.Boolean({ description: 'false: the platform no longer has it, so the entry never expires' }),
  why: Type.Enum(['removed', 'channel', 'playlist', 'watched', 'missing', 'rule', 'replaced']),
  by: Type.Union([Type.String(), Type.Null()], { description: 'name of the account' }),
  note: Type.String(),
  removed: Type.Integer({ description: 'epoch seconds' }),
  until: Type.Union([Type.Integer(), Type.Null()], {
    description: 'epoch seconds; null: until an admin empties the bin',
  }),
})

export const listBin = defineRoute({
  method: 'GET',
  path: '/api/bin/',
  access: 'admin',
  summary: 'The entries of the bin, newest first',
  query: { q: Type.Optional(Type.String({ maxLength: 200, description: 'part of the title or channel name' })) },
  envelope: 'page',
  reply: Type.Array(Entry),
  handle({ query: { q = '' }, page: { from, size }, actor }, app: App) {
    const { entries, total } = app.bin.list(q, from, size, actor.id)
    return listing(
      entries.map((entry) => JSON.stringify(shown(entry, app))),
      total,
    )
  },
})

const PICTURES = { video: 'video', film: 'video', channel: 'channel_thumb', playlist: 'playlist' } as const

function shown(entry: BinEntry, { accounts, media }: App) {
  return {
    id: entry.id,
    kind: entry.kind,
    removal: entry.removal,
    platform_id: entry.videoId,
    channel_id: entry.channelId,
    title: entry.title,
    channel_name: entry.channelName,
    thumb_url: media.artUrl(PICTURES[entry.kind], entry.videoId),
    media_size: entry.sizeBytes,
    duration: entry.durationSeconds,
    active: !entry.isGone,
    why: entry.why,
    by: (entry.by !== null && accounts.get(entry.by)?.username) || null,
    note: entry.note,
    removed: entry.removedAt,
    until: entry.isGone ? null : entry.until,
  }
}

const ChosenBody = Type.Object(
  {
    entries: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 1000 })),
    removal: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'all entries of this removal' })),
    all: Type.Optional(Type.Literal(true)),
  },
  { description: 'exactly one of the three' },
)

function chosenBy({ entries, removal, all }: { entries?: number[]; removal?: string; all?: true }): Chosen {
  const told = [entries, removal, all].filter((one) => one !== undefined)
  if (told.length !== 1) throw errors.badRequest('Send one of `entries`, `removal`, `all`')
  return entries ? { entries } : removal !== undefined ? { removal } : { all: true }
}

const MOST_REFUSED = 500

export const restoreEntries = defineRoute({
  method: 'POST',
  path: '/api/bin/restore/',
  access: 'viewer',
  summary: 'Restore entries of the bin',
  body: ChosenBody,
  reply: Type.Object({
    restored: Type.Integer(),
    refused: Type.Array(Type.Object({ id: Type.Integer(), title: Type.String(), reason: Type.String() }), {
      description: 'these stay in the bin',
    }),
    said: Type.Optional(Said),
  }),
  errors: ['bad_request', 'permission_denied', 'not_found', 'conflict', 'unavailable'],
  async handle({ body, actor }, app: App) {
    if (!actor.isAdmin && !app.bin.isOwn(body.removal ?? '', actor.id))
      throw errors.permissionDenied(
        'Only an admin can restore this from the bin: other accounts can restore only playlists that they have removed themselves',
      )
    const { restored, refused } = await app.bin.restore({ ...chosenBy(body), viewer: actor.id })
    const [first] = refused
    if (restored === 0 && !first && !body.all) throw errors.notFound('entry of the bin')
    if (restored === 0 && first && refused.length === 1) throw errors.conflict(first.words)
    const shown = refused.slice(0, MOST_REFUSED)
    return {
      restored,
      refused: shown.map(({ entry, title, reason }) => ({ id: entry, title, reason })),
      said: saidOf(shown.map(({ words }) => words)).said,
    }
  },
})

export const emptyEntries = defineRoute({
  method: 'POST',
  path: '/api/bin/empty/',
  access: 'admin',
  summary: 'Delete entries of the bin permanently',
  body: ChosenBody,
  reply: Type.Object({ deleted: Type.Integer() }),
  errors: ['bad_request', 'unavailable'],
  handle: async ({ body, actor }, app: App) => ({
    deleted: await app.bin.empty({ ...chosenBy(body), viewer: actor.id }),
  }),
})
