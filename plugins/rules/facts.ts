/**
 * The facts about videos of the archive, read from their columns when a rule needs them. One object is reused for all
 * videos, because new objects and closures for each would cost more than all comparisons.
 */
import { DAY_SECONDS, type Scalar } from 'archivolt'
import type { Facts } from './decide.ts'
import type { Conditions, Scope } from './schema.ts'
import type { Scopes } from './scopes.ts'

type By = NonNullable<Conditions['watched']>['by']
/** When each video was watched by the relevant accounts (epoch seconds). */
export type Watched = (by: By) => ReadonlyMap<string, number>
type Values = ReadonlyArray<Scalar | null>

interface Known {
  /** Epoch seconds. */
  now: number
  /** Free bytes, if a rule needs them. */
  room: number | undefined
  scopes: Scopes
  /** Ids of videos by playlist. */
  members: ReadonlyMap<string, ReadonlySet<string>>
  /** Ids of videos by rule. */
  newest: ReadonlyMap<number, ReadonlySet<string>>
}

/** @param paths  paths of the columns, in the order of the values */
export function openFacts(paths: readonly string[], { now, room, scopes, members, newest }: Known) {
  let [id, values, watched]: [string, Values, Watched] = ['', [], () => new Map()]
  const reading = <Value extends Scalar>(path: string): (() => Value | undefined) => {
    const at = paths.indexOf(path)
    return at < 0 ? () => undefined : () => (values[at] as Value | null) ?? undefined
  }
  const channelId = reading<string>('channel_id')
  const bytes = reading<number>('media_size')
  const added = reading<number>('date_downloaded')
  const title = reading<string>('title')
  const description = reading<string>('description')
  const seconds = reading<number>('player.duration')
  const published = reading<string>('published')
  const kind = reading<string>('vid_type')
  const sound = reading<string>('receipt.got.audio_language')
  const original = reading<string>('receipt.offered.original_language')
  const subtitles = reading<string>('subtitles.0.lang')
  const width = reading<number>('width')
  const height = reading<number>('height')
  const views = reading<number>('stats.view_count')
  const active = reading<boolean>('active')
  const isMember = (playlistId: string) => members.get(playlistId)?.has(id) ?? false

  return {
    /** Makes the facts those of this video. */
    show(shownId: string, shownValues: Values, shownWatched: Watched): void {
      id = shownId
      values = shownValues
      watched = shownWatched
    },
    get id() {
      return id
    },
    get channelId() {
      return channelId() ?? ''
    },
    isIn: (scope: Scope) => scopes.isOf(scope, channelId() ?? '', isMember),
    get title() {
      return title() ?? ''
    },
    get description() {
      return description() ?? ''
    },
    get seconds() {
      return seconds() ?? 0
    },
    get published() {
      return published() || undefined
    },
    get publishedDays() {
      const day = published()
      return day ? Math.floor((now - dayOf(day)) / DAY_SECONDS) : undefined
    },
    get kind() {
      return kind()
    },
    get language() {
      return sound() ?? original()
    },
    get hasSubtitles() {
      return subtitles() !== undefined
    },
    get height() {
      const rows = height()
      return rows ? Math.min(width() || rows, rows) : undefined
    },
    get views() {
      return views() ?? 0
    },
    get bytes() {
      return bytes() ?? 0
    },
    get addedDays() {
      return (now - (added() ?? now)) / DAY_SECONDS
    },
    get isOnPlatform() {
      return active() !== false
    },
    watchedDays(by: By) {
      const since = watched(by).get(id)
      return since === undefined ? null : (now - since) / DAY_SECONDS
    },
    isNewest: (rule: number) => newest.get(rule)?.has(id) ?? false,
    get freeBytes() {
      return room
    },
  } satisfies Facts & { show: unknown }
}

const days = new Map<string, number>()
const MOST_DAYS = 20_000
/** The start of a day, in epoch seconds. Cached: libraries have many videos but few days. */
function dayOf(day: string): number {
  let epoch = days.get(day)
  if (epoch === undefined) {
    if (days.size > MOST_DAYS) days.clear()
    days.set(day, (epoch = Date.parse(day) / 1000))
  }
  return epoch
}
