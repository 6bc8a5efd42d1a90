/** The version of a feed's text. If all sources are unchanged, it is known without generating the feed. */
import { createHash } from 'node:crypto'
import { type Actor, epochSeconds, isUnchanged, recordSources, type Sources } from 'archivolt'
import type { App } from './app.ts'
import type { Feed } from './feeds.ts'
import type { Rss } from './rss.ts'

/** Maximum number of cached versions, by address: an account has at most a few hundred feeds. */
const MOST_KNOWN = 1000

interface Known {
  version: string
  /** Whether some of the feed's videos lack their sound. */
  isLacking: boolean
  /** With an index server, which does not report changes of documents, the feed is generated each time. */
  sources: Sources
  sounds: string
  view: Actor['view']
  until: number
}

export const versionOf = (content: string | Buffer): string => createHash('sha1').update(content).digest('base64url')

export function openFeedVersions(app: Pick<App, 'clock'> & { readonly sounds: Pick<App['sounds'], 'version'> }) {
  const known = new Map<string, Known>()
  const keyOf = ({ id }: Feed, base: string): string => `${id} ${base}`

  return {
    /** undefined: a source has changed, or the feed was not read since the start */
    current(feed: Feed, base: string, { view }: Actor): Pick<Known, 'version' | 'isLacking'> | undefined {
      const one = known.get(keyOf(feed, base))
      if (!one || one.view !== view || one.sounds !== app.sounds.version()) return undefined
      return epochSeconds(app.clock) < one.until && isUnchanged(one.sources) ? one : undefined
    },

    async make(feed: Feed, base: string, { view }: Actor, make: () => Promise<Rss>) {
      const [sources, sounds]: [Sources, string] = [new Map(), app.sounds.version()]
      const { content, until, lacking } = await recordSources(sources, make)
      const version = versionOf(content)
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(keyOf(feed, base), { version, isLacking: lacking.length > 0, sources, sounds, view, until })
      return { content, version, lacking }
    },
  }
}

export type FeedVersions = ReturnType<typeof openFeedVersions>
