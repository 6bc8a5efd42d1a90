/**
 * Finds the document that Plex means: by a GUID of this provider, then by the ids in square brackets in the name of a
 * file or folder, then by title. Only the id distinguishes two channels with the same name.
 */
import { fold, isAppError, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Asker, Items } from './items.ts'
import { idsIn, type Key, readGuid } from './keys.ts'

/** Plex sends numbers; clients that send forms send texts. */
const Count = Type.Union([Type.Integer({ minimum: 0, maximum: 999_999 }), Type.String({ pattern: '^\\d{1,6}$' })])
const Text = Type.String({ maxLength: 4000 })

export const MatchBody = Type.Object({
  type: Type.Union([Type.Enum([2, 3, 4]), Type.Enum(['2', '3', '4'])], {
    description: '2: a show; 3: a season; 4: an episode',
  }),
  title: Type.Optional(Text),
  parentTitle: Type.Optional(Text),
  grandparentTitle: Type.Optional(Text),
  filename: Type.Optional(Text),
  guid: Type.Optional(Text),
  index: Type.Optional(Count),
  parentIndex: Type.Optional(Count),
  date: Type.Optional(Text),
  manual: Type.Optional(Count),
  includeChildren: Type.Optional(Count),
})
export type MatchBody = Static<typeof MatchBody>

/** Maximum number of matches in a manual search. */
const MOST_FOUND = 10

export const isSet = (flag: MatchBody['manual']): boolean => Number(flag ?? 0) === 1
const numberOf = (count: MatchBody['index']): number | undefined => (count === undefined ? undefined : Number(count))

/** The best match, or in a manual search up to ten, best first. */
export async function matchesOf(body: MatchBody, asker: Asker, items: Items, app: App): Promise<Key[]> {
  const found = await keysFor(body, asker, items, app)
  return isSet(body.manual) ? found.slice(0, MOST_FOUND) : found.slice(0, 1)
}

async function keysFor(body: MatchBody, { actor }: Asker, items: Items, app: App): Promise<Key[]> {
  const type = Number(body.type)
  const named = readGuid(body.guid ?? '')
  const ids = idsIn(`${body.filename ?? ''} ${body.title ?? ''}`)
  if (type === 4) {
    const own = named?.type === 'episode' ? [named.video] : []
    const video = (await visible([...ids, ...own], items)).at(-1)
    if (video !== undefined) return [{ type: 'episode', video }]
  }
  const title = (type === 2 ? body.title : type === 3 ? body.parentTitle : body.grandparentTitle) ?? ''
  const shows = await showsFor({ named, ids, title, isManual: isSet(body.manual) }, items, app)
  if (type === 2) return shows.map((show) => ({ type: 'show', show }))
  const [show] = shows
  if (show === undefined) return []
  const episodes = await app.shelf.episodesOf(show, actor)
  const index = numberOf(body.index)
  if (type === 3) {
    const season = named?.type === 'season' && named.show === show ? named.season : index
    return season !== undefined && episodes.some((one) => one.season === season)
      ? [{ type: 'season', show, season }]
      : []
  }
  const season = numberOf(body.parentIndex)
  const isMeant =
    index !== undefined && season !== undefined
      ? (one: (typeof episodes)[number]) => one.season === season && one.number === index
      : (one: (typeof episodes)[number]) => one.published !== '' && one.published === body.date
  return episodes.filter(isMeant).map(({ id: video }) => ({ type: 'episode', video }))
}

/** Those of these ids that belong to episodes. */
async function visible(ids: readonly string[], items: Items): Promise<string[]> {
  const found: string[] = []
  for (const video of new Set(ids)) {
    const one = await items.item({ type: 'episode', video }).catch((thrown: unknown) => {
      if (!isAppError(thrown, 'not_found')) throw thrown
    })
    if (one) found.push(video)
  }
  return found
}

interface Meant {
  named: Key | undefined
  ids: readonly string[]
  title: string
  isManual: boolean
}

async function showsFor({ named, ids, title, isManual }: Meant, items: Items, app: App): Promise<string[]> {
  const shows = new Set<string>()
  const add = async (id: string | undefined): Promise<void> => {
    if (id !== undefined && !shows.has(id) && (await items.show(id))) shows.add(id)
  }
  if (named?.type === 'show' || named?.type === 'season') await add(named.show)
  const wanted = [...ids, ...idsIn(title), ...(named?.type === 'episode' ? [named.video] : [])]
  for (const id of wanted) await add(id)
  if (shows.size === 0 && wanted.length > 0)
    for (const { channel_id: id } of (await app.videos.collection.getMany(wanted)).values()) await add(id)
  if (shows.size === 0 || isManual) for (const id of await namedLike(title, isManual, app)) await add(id)
  return [...shows]
}

/** Channels of this name. An automatic search accepts only an exact match. */
async function namedLike(title: string, isManual: boolean, { channels }: App): Promise<string[]> {
  const words = title.replace(/\[[^[\]]*\]/g, ' ').trim()
  if (words === '') return []
  const text = { words, fields: { channel_name: 1 }, match: 'all' } as const
  const { hits } = await channels.collection.find({ text, size: MOST_FOUND, withoutTotal: true })
  const found = hits.map((hit) => JSON.parse(hit.text) as { channel_id: string; channel_name: string })
  const isSame = ({ channel_name: name }: { channel_name: string }) => fold(name) === fold(words)
  return (isManual ? found : found.filter(isSame)).map(({ channel_id: id }) => id)
}
