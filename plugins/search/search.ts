/**
 * A parsed query → the records of each group, as JSON texts. How much a field counts stands in the `schema.ts` of its
 * index (`search: 2`); in the simple search all names count alike (`NAMES`).
 */
import { type Actor, type Collection, type Filter, type FindQuery, type Hit, MAX_WINDOW } from 'archivolt'
import type { App } from './app.ts'
import { firstHits, MOST_HITS } from './first-hits.ts'
import { findFragments } from './fragments.ts'
import type { Query } from './query-syntax.ts'

export interface Groups {
  video: string[]
  channel: string[]
  playlist: string[]
  full: string[]
}

const SIMPLE_GROUPS = ['channel', 'playlist', 'video'] as const
type SimpleGroup = (typeof SIMPLE_GROUPS)[number]
type Finding = Record<SimpleGroup, Hit[]>

export async function runQuery(query: Query, actor: Actor, app: App): Promise<Groups> {
  if (query.type === 'simple') return simple(query, actor, app)
  const groups: Groups = { video: [], channel: [], playlist: [], full: [] }
  switch (query.type) {
    case 'video': {
      const filter = allOf([...(await ofChannels(query, app)), ...isEqual('active', query.active)])
      const text = words(query)
      groups.video = await app.videos.records(await hitsOf(app.videos.collection, { text, filter }), actor)
      break
    }
    case 'channel': {
      const filter = allOf([
        ...isEqual('channel_active', query.active),
        ...isEqual('channel_subscribed', query.subscribed),
      ])
      const text = words(query)
      groups.channel = asChannels(await hitsOf(app.channels.collection, { text, filter }), app)
      break
    }
    case 'playlist': {
      const filter = allOf([
        ...isEqual('playlist_active', query.active),
        ...isEqual('playlist_subscribed', query.subscribed),
      ])
      const text = words(query)
      groups.playlist = asPlaylists(await hitsOf(app.playlists.collection, { text, filter }), app)
      break
    }
    case 'full':
      groups.full = await findFragments(query, await ofChannels(query, app), app)
  }
  return groups
}

/** Exact hits of all groups come first; fuzzy ones fill the places that are left. */
async function simple(query: Query, actor: Actor, app: App): Promise<Groups> {
  const exact = await findSimple({ ...query, fuzziness: 0 }, app)
  const shown = firstHits(exact)
  const room = MOST_HITS - SIMPLE_GROUPS.reduce((sum, group) => sum + shown[group].length, 0)
  if (room > 0 && query.term !== '' && query.fuzziness !== 0) {
    const all = await findSimple(query, app)
    const isNew =
      (group: SimpleGroup) =>
      ({ id }: Hit) =>
        !shown[group].some((hit) => hit.id === id)
    const further = {
      channel: all.channel.filter(isNew('channel')),
      playlist: all.playlist.filter(isNew('playlist')),
      video: all.video.filter(isNew('video')),
    }
    const added = firstHits(further, shown)
    for (const group of SIMPLE_GROUPS) shown[group].push(...added[group])
  }
  const [video, channel, playlist] = await Promise.all([
    withTexts(app.videos.collection, shown.video),
    withTexts(app.channels.collection, shown.channel),
    withTexts(app.playlists.collection, shown.playlist),
  ])
  return {
    video: await app.videos.records(video, actor),
    channel: asChannels(channel, app),
    playlist: asPlaylists(playlist, app),
    full: [],
  }
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
    hitsOf(app.channels.collection, { text: words(query, NAMES.channel), withoutTexts: true }),
    hitsOf(app.playlists.collection, { text: words(query, NAMES.playlist), withoutTexts: true }),
    hitsOf(app.videos.collection, { text: words(query, NAMES.video), withoutTexts: true }),
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
  return (
    await collection.find({ ...query, text: isSearch ? query.text : undefined, size: MOST_HITS, withoutTotal: true })
  ).hits
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

const asChannels = (hits: readonly Hit[], { channels }: App): string[] =>
  hits.map(({ text, score }) => channels.reply(text, score))
const asPlaylists = (hits: readonly Hit[], { playlists }: App): string[] => playlists.records(hits)
