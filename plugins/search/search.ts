/**
 * A parsed query → the records of each group, as JSON texts. How much a field counts stands in the `schema.ts` of its
 * index (`search: 2`); in the simple search all names count alike (`NAMES`).
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
import { firstHits, type HitsByKind, MOST_HITS, NONE } from './first-hits.ts'
import { findFragments } from './fragments.ts'
import type { Query } from './query-syntax.ts'

const KINDS = ['channel', 'playlist', 'video'] as const
type Kind = (typeof KINDS)[number]
/** Without the texts of the hits. */
type Finding = HitsByKind<Hit>

/** @returns the reply, as JSON text */
export async function runQuery(query: Query, actor: Actor, app: App): Promise<string> {
  const { type } = query
  if (type === 'full') return replyOf(type, { full: await findFragments(query, await ofChannels(query, app), app) })
  const found = await (type === 'simple' ? findBest(query, app) : findKind(type, query, app))
  return recordsOf(type, found, actor, app)
}

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

/** Exact hits of all kinds come first; fuzzy ones fill the places that are left. */
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
 * Begun when all is found, and makes the whole reply. A function that has waited for the index is old memory by then:
 * what it holds, and what its promise resolves with, stays until the whole heap is looked through. Thirty records of
 * each search, and the pieces of the text that is sent, were half of all work on memory.
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
    playlist: app.playlists.records(playlist),
  })
}

function replyOf(
  type: Query['type'],
  { video = [], channel = [], playlist = [], full = [] }: Partial<Record<Kind | 'full', string[]>>,
): string {
  const results = {
    video_results: listOf(video),
    channel_results: listOf(channel),
    playlist_results: listOf(playlist),
    fulltext_results: listOf(full),
  }
  return objectOf({ results: objectOf(results), queryType: JSON.stringify(type) })
}

/** Found are ninety and more, shown are thirty: only these are read. One that has gone meanwhile is left out. */
async function withTexts(collection: Pick<Collection, 'getTexts'>, hits: readonly Hit[]): Promise<Hit[]> {
  if (hits.length === 0) return []
  const texts = await collection.getTexts(hits.map(({ id }) => id))
  return hits.flatMap((hit) => {
    const text = texts.get(hit.id)
    return text === undefined ? [] : [{ ...hit, text }]
  })
}

/** The simple search looks at names alone, and none of the three kinds counts more than another. */
const NAMES = { channel: { channel_name: 1 }, playlist: { playlist_name: 1 }, video: { title: 1 } } as const

async function findSimple(query: Query, app: App): Promise<Finding> {
  const [channel, playlist, video] = await Promise.all([
    hitsOf(app.channels.collection, { text: words(query, NAMES.channel) }),
    hitsOf(app.playlists.collection, { text: words(query, NAMES.playlist) }),
    hitsOf(app.videos.collection, { text: words(query, NAMES.video) }),
  ])
  return { channel, playlist, video }
}

/** @param fields  with their weights; left out: those that the documents' index declares */
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

/** Of the channels whose name has the words; misspelt words count only where none has them as they are. */
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
