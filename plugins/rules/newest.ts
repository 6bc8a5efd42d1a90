/** Finds the newest videos in the scope of a rule, or in each channel of it, by day of publication. */
import type { App } from './app.ts'
import type { CompiledRule } from './decide.ts'
import type { Conditions, Scope } from './schema.ts'
import type { Scopes } from './scopes.ts'

type Dated = [published: string, id: string]
const newerFirst = ([one, oneId]: Dated, [other, otherId]: Dated): number =>
  one === other ? (oneId < otherId ? -1 : 1) : one < other ? 1 : -1

/** Number of additional videos that are collected before the list is cut to the newest. */
const SPARE = 1000

type Wanted = NonNullable<Conditions['newest']>

/**
 * Collects the newest videos of one scope while documents are read. For each channel, holds at most twice the wanted
 * number plus `SPARE`.
 */
function openNewest(scope: Scope, { count, of }: Wanted, scopes: Scopes) {
  const byChannel = new Map<string, Dated[]>()
  const cut = (dated: Dated[]) => void dated.sort(newerFirst).splice(count)
  return {
    take(id: string, channelId: string, published: string, isInPlaylist: (playlistId: string) => boolean): void {
      if (!scopes.isOf(scope, channelId, isInPlaylist)) return
      const key = of === 'channel' ? channelId : ''
      const dated = byChannel.get(key) ?? []
      byChannel.set(key, dated)
      dated.push([published, id])
      if (dated.length > 2 * count + SPARE) cut(dated)
    },
    found(): Set<string> {
      for (const dated of byChannel.values()) cut(dated)
      return new Set([...byChannel.values()].flatMap((dated) => dated.map(([, id]) => id)))
    },
  }
}

/** The newest videos by rule, found in one pass over all videos. @param members  video ids by playlist */
export async function newestOf(
  { videos }: App,
  rules: readonly CompiledRule[],
  scopes: Scopes,
  members: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Map<number, ReadonlySet<string>>> {
  const asking = rules.flatMap(({ id, scope, conditions: { newest, not_newest: others } }) => {
    const wanted = newest ?? others
    return wanted ? [{ id, scope, wanted, question: JSON.stringify([scope, wanted]) }] : []
  })
  /** // Rules with the same question share the result. */
  const all = new Map(asking.map(({ scope, wanted, question }) => [question, openNewest(scope, wanted, scopes)]))
  if (all.size === 0) return new Map()
  for await (const batch of videos.collection.parts({ paths: ['channel_id', 'published'] }))
    for (const { id, values } of batch) {
      const [channelId, published] = [String(values[0]), String(values[1] ?? '')]
      const isInPlaylist = (playlistId: string) => members.get(playlistId)?.has(id) ?? false
      for (const newest of all.values()) newest.take(id, channelId, published, isInPlaylist)
    }
  const found = new Map([...all].map(([question, newest]) => [question, newest.found()]))
  return new Map(asking.map(({ id, question }) => [id, found.get(question)!]))
}
