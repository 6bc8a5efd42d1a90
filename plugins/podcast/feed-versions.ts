/** The version of a feed's text. It is known without generating the feed while all sources are unchanged. */
import { createHash } from 'node:crypto'
import { type Actor, epochSeconds, isUnchanged, recordSources, type Sources } from 'archivolt'
import type { App } from './app.ts'
import type { Feed } from './feeds.ts'
import type { Rss } from './rss.ts'

/** Versions by address: an account has at most a few hundred feeds. */
const MOST_KNOWN = 1000

interface Known {
  version: string
  /** Whether some of its videos lack their sound. */
  isLacking: boolean
  /** An index server does not report changes of documents, so the feed is generated each time. */
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
