/** What is wanted of a channel or playlist: by somebody who subscribes, or by another program whose settings are imported. */
import type { Words } from 'archivolt'

export interface Wishes {
  skip_kinds?: Array<'videos' | 'shorts' | 'streams'>
  /** Seconds. */
  skip_shorter_than?: number
  skip_longer_than?: number
  /** Words or phrases, one of which the title has. */
  only_titles?: string[]
  skip_titles?: string[]
  /** As another program has them. */
  only_pattern?: string
  skip_pattern?: string
  /** YYYY-MM-DD */
  skip_published_before?: string
  /** Days. */
  skip_older_than?: number
  /** Of all that is not skipped. */
  quality?: { quality_height?: number; quality_codec?: 'sound' }
  /** The newest of the channel or playlist, each for so many days, or until it is watched. */
  keep?: { newest: number } | { days: number } | { until: 'watched' }
}

/** How many rules are new, and which wishes cannot be had. */
export interface Wished {
  added: number
  refused: Array<{ wish: keyof Wishes; reason: Words }>
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked when a channel or playlist is subscribed to, before the first look at it, and when another program's
     * settings are imported; perhaps twice for the same wishes.
     */
    'download.wishes': (of: { kind: 'channel' | 'playlist'; id: string }, wishes: Wishes) => Promise<Wished>
  }
}
