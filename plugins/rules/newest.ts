/** The newest videos of a rule's scope, or of each channel in it: by the day of publication. */
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import type { CompiledRule } from './decide.ts'
import type { Conditions } from './schema.ts'
import type { Scopes } from './scopes.ts'

type Dated = [published: string, id: string]
const newerFirst = ([one, oneId]: Dated, [other, otherId]: Dated): number =>
  one === other ? (oneId < otherId ? -1 : 1) : one < other ? 1 : -1

/** By rule. */
export async function newestOf(
  app: App,
  rules: readonly CompiledRule[],
  scopes: Scopes,
): Promise<Map<number, ReadonlySet<string>>> {
  const found = new Map<number, ReadonlySet<string>>()
  for (const { id, scope, conditions } of rules) {
    const wanted = conditions.newest ?? conditions.not_newest
    if (!wanted) continue
    const channels = scopes.channelsOf(scope)
    const parts: VideoFilter[] = [
      ...(channels ? [{ in: ['channel_id', channels] } satisfies VideoFilter] : []),
      ...scopes.playlistsOf(scope).map((playlist): VideoFilter => ({ eq: ['playlist', playlist] })),
    ]
    found.set(id, await newestIn(app, channels ? { or: parts } : undefined, wanted))
  }
  return found
}

/** Never more than twice as many as are wanted are held for a channel. */
async function newestIn(
  { videos }: App,
  filter: VideoFilter | undefined,
  { count, of }: NonNullable<Conditions['newest']>,
): Promise<Set<string>> {
  const byChannel = new Map<string, Dated[]>()
  const cut = (dated: Dated[]) => void dated.sort(newerFirst).splice(count)
  for await (const batch of videos.collection.parts({ filter, paths: ['channel_id', 'published'] })) {
    for (const { id, values } of batch) {
      const key = of === 'channel' ? String(values[0]) : ''
      const dated = byChannel.get(key) ?? []
      byChannel.set(key, dated)
      dated.push([String(values[1] ?? ''), id])
      if (dated.length > 2 * count + 1000) cut(dated)
    }
  }
  for (const dated of byChannel.values()) cut(dated)
  return new Set([...byChannel.values()].flatMap((dated) => dated.map(([, id]) => id)))
}
