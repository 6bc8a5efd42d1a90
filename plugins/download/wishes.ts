/**
 * Wishes for a channel or playlist, from an account that subscribes, or from the imported settings of another program.
 */
import type { Words } from 'archivolt'

export interface Wishes {
  skip_kinds?: Array<'videos' | 'shorts' | 'streams'>
  /** Duration in seconds. */
  skip_shorter_than?: number
  skip_longer_than?: number
  /** Words or phrases; the title must contain one of them. */
  only_titles?: string[]
  skip_titles?: string[]
  /** A pattern as another program stores it. */
  only_pattern?: string
  skip_pattern?: string
  /** YYYY-MM-DD */
  skip_published_before?: string
  /** Age in days. */
  skip_older_than?: number
  /** The quality of all videos that are not skipped. */
  quality?: { quality_height?: number; quality_codec?: 'sound' }
  /**
   * How long videos stay: only the newest of the channel or playlist, or each for a number of days, or until it is
   * watched.
   */
  keep?: { newest: number } | { days: number } | { until: 'watched' }
}

/** The number of new rules, and the wishes that cannot be fulfilled. */
export interface Wished {
  added: number
  refused: Array<{ wish: keyof Wishes; reason: Words }>
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked when somebody subscribes to a channel or playlist, before it is first checked, and when another program's
     * settings are imported; perhaps twice for the same wishes.
     */
    'download.wishes': (of: { kind: 'channel' | 'playlist'; id: string }, wishes: Wishes) => Promise<Wished>
  }
}
