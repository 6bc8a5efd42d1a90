/**
 * Finds the records of each kind for a parsed query, as JSON texts. The weights of fields are in the `schema.ts` of
 * each collection (`search: 2`); in the simple search all names have the same weight (`NAMES`).
 */
import {
  type Actor,
  type Collection,
  type Filter,
  type FindQuery,
  type Hit,
  listOf,
  MAX_WINDOW,
  objectOf,
} from 'archivolt'
import type { App } from './app.ts'
import { findComments } from './comments.ts'
import { firstHits, type HitsByKind, MOST_HITS, NONE } from './first-hits.ts'
import { findFragments, type SubtitleHit } from './fragments.ts'
import type { Query } from './query-syntax.ts'

const KINDS = ['channel', 'playlist', 'video'] as const
type Kind = (typeof KINDS)[number]
/** The hits of each kind, without their texts. */
type Finding = HitsByKind<Hit>

/** @returns the reply, as JSON text */
export async function runQuery(query: Query, actor: Actor, app: App): Promise<string> {
  const { type } = query
  if (type === 'full') return replyOf(type, { full: (await findSpoken(query, app)).map((hit) => JSON.stringify(hit)) })
  if (type === 'comment')
    return replyOf(type, { comment: await findComments(query, await ofChannels(query, app), app) })
  const found = await (type === 'simple' ? findBest(query, app) : findKind(type, query, app))
  return recordsOf(type, found, actor, app)
}

/** Hits in subtitles, best first. @param size  the maximum number of hits */
export const findSpoken = async (query: Query, app: App, size?: number): Promise<SubtitleHit[]> =>
  findFragments(query, await ofChannels(query, app), app, size)

async function findKind(kind: Kind, query: Query, app: App): Promise<Finding> {
  const text = words(query)
  switch (kind) {
    case 'video': {
      const filter = allOf([...(await ofChannels(query, app)), ...isEqual('active', query.active)])
      return { ...NONE, video: await hitsOf(app.videos.collection, { text, filter }) }
    }
    case 'channel': {
      const filter = allOf([
        ...isEqual('channel_active', query.active),
        ...isEqual('channel_subscribed', query.subscribed),
      ])
      return { ...NONE, channel: await hitsOf(app.channels.collection, { text, filter }) }
    }
    case 'playlist': {
      const filter = allOf([
        ...isEqual('playlist_active', query.active),
        ...isEqual('playlist_subscribed', query.subscribed),
      ])
      return { ...NONE, playlist: await hitsOf(app.playlists.collection, { text, filter }) }
    }
  }
}

/** Exact hits of all kinds come first; fuzzy ones fill the remaining slots. */
async function findBest(query: Query, app: App): Promise<Finding> {
  const shown = firstHits(await findSimple({ ...query, fuzziness: 0 }, app))
  const room = MOST_HITS - KINDS.reduce((sum, kind) => sum + shown[kind].length, 0)
  if (room === 0 || query.term === '' || query.fuzziness === 0) return shown
  const all = await findSimple(query, app)
  const isNew =
    (kind: Kind) =>
    ({ id }: Hit) =>
      !shown[kind].some((hit) => hit.id === id)
  const further = {
    channel: all.channel.filter(isNew('channel')),
    playlist: all.playlist.filter(isNew('playlist')),
    video: all.video.filter(isNew('video')),
  }
  const added = firstHits(further, shown)
  for (const kind of KINDS) shown[kind].push(...added[kind])
  return shown
}

/**
 * Builds the whole reply in one function, which is called only after all hits are found. Objects that a function holds
 * while it waits for the index are moved to V8's old generation: records of searches caused half of all garbage
 * collection in this way.
 */
async function recordsOf(type: Query['type'], found: Finding, actor: Actor, app: App): Promise<string> {
  const [video, channel, playlist] = await Promise.all([
    withTexts(app.videos.collection, found.video),
    withTexts(app.channels.collection, found.channel),
    withTexts(app.playlists.collection, found.playlist),
  ])
  return replyOf(type, {
    video: await app.videos.records(video, actor),
    channel: channel.map(({ text, score }) => app.channels.reply(text, score)),
    playlist: app.playlists.records(playlist, actor.view),
  })
}

function replyOf(
  type: Query['type'],
  { video = [], channel = [], playlist = [], full = [], comment }: Partial<Record<Kind | 'full' | 'comment', string[]>>,
): string {
  const results = {
    video_results: listOf(video),
    channel_results: listOf(channel),
    playlist_results: listOf(playlist),
    fulltext_results: listOf(full),
    ...(comment && { comment_results: listOf(comment) }),
  }
  return objectOf({ results: objectOf(results), queryType: JSON.stringify(type) })
}

/**
 * Reads the texts of the hits. Only now, because a simple search finds ninety hits or more and shows thirty. Hits that
 * were deleted meanwhile are omitted.
 */
async function withTexts(collection: Pick<Collection, 'getTexts'>, hits: readonly Hit[]): Promise<Hit[]> {
  if (hits.length === 0) return []
  const texts = await collection.getTexts(hits.map(({ id }) => id))
  return hits.flatMap((hit) => {
    const text = texts.get(hit.id)
    return text === undefined ? [] : [Object.assign({}, hit, { text })]
  })
}

/** The fields of the simple search: only names, with the same weight for all three kinds. */
const NAMES = {
  channel: { channel_name: 1 },
  playlist: { playlist_name: 1 },
  video: { title: 1, community_title: 1, former_titles: 1 },
} as const

async function findSimple(query: Query, app: App): Promise<Finding> {
  const [channel, playlist, video] = await Promise.all([
    hitsOf(app.channels.collection, { text: words(query, NAMES.channel) }),
    hitsOf(app.playlists.collection, { text: words(query, NAMES.playlist) }),
    hitsOf(app.videos.collection, { text: words(query, NAMES.video) }),
  ])
  return { channel, playlist, video }
}

/** @param fields  fields with their weights; omitted: those that the collection declares */
const words = <Fields extends object>({ term, fuzziness }: Query, fields?: Fields) => ({
  words: term,
  fields,
  match: 'all' as const,
  prefixLast: true,
  fuzziness,
})

async function hitsOf<Names extends string>(
  collection: { find(query: FindQuery<Names>): Promise<{ hits: Hit[] }> },
  query: FindQuery<Names>,
): Promise<Hit[]> {
  const isSearch = query.text?.words !== ''
  const text = isSearch ? query.text : undefined
  return (await collection.find({ ...query, text, size: MOST_HITS, withoutTotal: true, withoutTexts: true })).hits
}

const isEqual = <Name extends string>(field: Name, value: boolean | undefined): Array<Filter<Name>> =>
  value === undefined ? [] : [{ eq: [field, value] }]

const allOf = <Name extends string>(filters: Array<Filter<Name>>): Filter<Name> | undefined =>
  filters.length > 0 ? { and: filters } : undefined

/** Limits a search to channels whose name contains the words; fuzzy matches count only if there is no exact one. */
async function ofChannels({ channel, fuzziness }: Query, app: App): Promise<Array<Filter<'channel_id'>>> {
  if (channel === undefined) return []
  const named = async (edits: Query['fuzziness']) => {
    const text = {
      words: channel,
      fields: NAMES.channel,
      match: 'all' as const,
      prefixLast: true,
      fuzziness: edits,
    }
    const query = { text, size: MAX_WINDOW, withoutTotal: true, withoutTexts: true }
    return (await app.channels.collection.find(query)).hits.map(({ id }) => id)
  }
  const exact = await named(0)
  return [{ in: ['channel_id', exact.length > 0 || fuzziness === 0 ? exact : await named(fuzziness)] }]
}
