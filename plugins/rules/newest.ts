/** The newest videos of a rule's scope, or of each channel in it: by the day of publication. */
import type { App } from './app.ts'
import type { CompiledRule } from './decide.ts'
import type { Scopes } from './scopes.ts'

type Dated = [published: string, id: string]
const newerFirst = ([one, oneId]: Dated, [other, otherId]: Dated): number =>
  one === other ? (oneId < otherId ? -1 : 1) : one < other ? 1 : -1

/** More than this beyond what is wanted are not held. */
const SPARE = 1000

/** The newest of one rule, while videos are read. Never more than twice as many as are wanted are held for a channel. */
function openNewest({ scope, conditions }: CompiledRule, scopes: Scopes) {
  const { count, of } = (conditions.newest ?? conditions.not_newest)!
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

/** By rule. All are found in one pass over the videos. @param members  ids by playlist */
export async function newestOf(
  { videos }: App,
  rules: readonly CompiledRule[],
  scopes: Scopes,
  members: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<Map<number, ReadonlySet<string>>> {
  const asking = rules.filter(({ conditions }) => conditions.newest ?? conditions.not_newest)
  const all = new Map(asking.map((rule) => [rule.id, openNewest(rule, scopes)]))
  if (all.size === 0) return new Map()
  for await (const batch of videos.collection.parts({ paths: ['channel_id', 'published'] }))
    for (const { id, values } of batch) {
      const [channelId, published] = [String(values[0]), String(values[1] ?? '')]
      const isInPlaylist = (playlistId: string) => members.get(playlistId)?.has(id) ?? false
      for (const newest of all.values()) newest.take(id, channelId, published, isInPlaylist)
    }
  return new Map([...all].map(([rule, newest]) => [rule, newest.found()]))
}
