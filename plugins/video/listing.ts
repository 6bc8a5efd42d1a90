/**
 * Decides which videos a list contains and in which order: by its own query parameters and those of later plugins. The
 * fields that they use are in `schema.ts`.
 */
import {
  type Actor,
  type Filter,
  type FindQuery,
  ID_PATTERN,
  type NamesOf,
  type QueryOf,
  type QueryShape,
  Type,
} from 'archivolt'
import type { App } from './app.ts'
import { DEGRADED_REASONS, QUALITIES } from './receipt.ts'
import { LOSSES, type videoIndex } from './schema.ts'

export type VideoNames = NamesOf<typeof videoIndex>
export type VideoFilter = Filter<VideoNames>
export type VideoQuery = FindQuery<VideoNames>

/** The result of a plugin's `video.filter` for its query parameters. */
export interface VideoListPart {
  filter?: VideoFilter
  /** Limits the list to these ids; also in this order, unless the caller requests a sort, or `order` is `always`. */
  ids?: readonly string[]
  order?: 'always' | 'unless sorted'
  /** The sort if the caller requests none. */
  sort?: VideoQuery['sort']
}

/** The sorts by name. Their fields are declared sortable in the schema (`sort: true`). */
const SORTS = {
  published: 'published',
  downloaded: 'date_downloaded',
  views: 'view_count',
  likes: 'like_count',
  duration: 'duration',
  mediasize: 'media_size',
  filesize: 'media_size',
  width: 'width',
  height: 'height',
  lost: 'lost_date',
} as const satisfies Record<string, VideoNames>

export type SortName = keyof typeof SORTS
export const SORT_NAMES = Object.keys(SORTS) as SortName[]

export const listQuery = {
  channel: Type.Optional(Type.String({ pattern: ID_PATTERN, description: 'videos of this channel' })),
  group: Type.Optional(Type.Integer({ minimum: 1, description: 'videos of the channels and playlists of this group' })),
  type: Type.Optional(Type.Enum(['videos', 'streams', 'shorts'])),
  height: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100_000, description: 'with a video stream of this height' }),
  ),
  quality: Type.Optional(
    Type.Enum([...QUALITIES, 'unknown'], {
      description:
        'quality according to the receipt: the best that was offered, lower because of the settings, degraded, no receipt',
    }),
  ),
  degraded: Type.Optional(Type.Enum([...DEGRADED_REASONS], { description: 'degraded for this reason' })),
  lost: Type.Optional(
    Type.Enum(['any', ...LOSSES], { description: 'no longer on the platform, for this reason (9.32)' }),
  ),
  before: Type.Optional(Type.String({ format: 'date', description: 'published before this day' })),
  after: Type.Optional(Type.String({ format: 'date', description: 'published on this day or later' })),
  sort: Type.Optional(Type.Enum(SORT_NAMES, { description: 'default: published' })),
  order: Type.Enum(['asc', 'desc'], { default: 'desc' }),
}

type Values = QueryOf<typeof listQuery>

const LOST: VideoFilter = { exists: 'lost_date' }

function ownFilters({ channel, type, height, quality, degraded, lost, before, after }: Partial<Values>): VideoFilter[] {
  return [
    ...(channel === undefined ? [] : [{ eq: ['channel_id', channel] } satisfies VideoFilter]),
    ...(type === undefined ? [] : [{ eq: ['vid_type', type] } satisfies VideoFilter]),
    ...(height === undefined ? [] : [{ eq: ['height', height] } satisfies VideoFilter]),
    ...(quality === undefined ? [] : [ofQuality(quality)]),
    ...(degraded === undefined ? [] : [{ eq: ['degraded_reason', degraded] } satisfies VideoFilter]),
    ...(lost === undefined ? [] : [lost === 'any' ? LOST : ({ eq: ['lost_kind', lost] } satisfies VideoFilter)]),
    ...(before === undefined ? [] : [{ range: ['published', { lt: before }] } satisfies VideoFilter]),
    ...(after === undefined ? [] : [{ range: ['published', { gte: after }] } satisfies VideoFilter]),
  ]
}

/** The filter for a group's videos; matches nothing if the actor does not see the group. */
export function ofGroup(
  id: number,
  actor: Pick<Actor, 'view'> | undefined,
  { channels: known }: Pick<App, 'channels'>,
): VideoFilter {
  const { channels = [], playlists = [] } = known.group(id, actor) ?? {}
  return { or: [{ in: ['channel_id', channels] }, { in: ['playlist', playlists] }] }
}

const ofQuality = (quality: NonNullable<Values['quality']>): VideoFilter =>
  quality === 'unknown' ? { not: { exists: 'quality' } } : { eq: ['quality', quality] }

/** Throws the failure of an external plugin only if the request has one of its parameters. */
export function withoutFilter(
  [values = {}]: ReadonlyArray<Record<string, unknown>>,
  refusal: Error,
  { query }: { query: QueryShape },
): undefined {
  if (
    Object.entries(query).some(
      ([key, schema]) => values[key] !== undefined && values[key] !== Reflect.get(schema, 'default'),
    )
  )
    throw refusal
}

const MONTH_LENGTH = 'YYYY-MM'.length

/** Counts videos by month, newest first. Months without videos and videos without a date are omitted. */
export async function countMonths(
  values: Partial<Values>,
  actor: Actor,
  app: App,
): Promise<Array<{ month: string; count: number }>> {
  const { filter, ids } = await toQuery(values, actor, app)
  const own: VideoFilter[] = [
    ...(filter ? [filter] : []),
    ...(ids ? [{ in: ['platform_id', ids] } as VideoFilter] : []),
  ]
  const days = await app.videos.collection.aggregate({
    filter: own.length > 1 ? { and: own } : own[0],
    groupBy: ['published'],
  })
  const counts = new Map<string, number>()
  for (const { key, count } of days) {
    const month = String(key[0] ?? '').slice(0, MONTH_LENGTH)
    if (month !== '') counts.set(month, (counts.get(month) ?? 0) + count)
  }
  return [...counts].map(([month, count]) => ({ month, count })).toReversed()
}

export async function toQuery(values: Partial<Values>, actor: Actor, app: App): Promise<VideoQuery> {
  const parts: VideoListPart[] = []
  for (const fill of app.hook('video.filter')) {
    const part = await fill.apply(values, actor)
    if (part) parts.push(part)
  }
  const ordered =
    parts.find((part) => part.ids && part.order === 'always') ??
    (values.sort === undefined ? parts.find((part) => part.ids) : undefined)
  const filters = ownFilters(values)
  if (values.group !== undefined) filters.push(ofGroup(values.group, actor, app))
  for (const part of parts) {
    if (part.filter) filters.push(part.filter)
    if (part.ids && part !== ordered) filters.push({ in: ['platform_id', part.ids] })
  }
  const preset = values.sort === undefined ? parts.find((part) => part.sort)?.sort : undefined
  return {
    ...(filters.length > 0 && { filter: filters.length === 1 ? filters[0] : { and: filters } }),
    ...(ordered
      ? { ids: ordered.ids }
      : { sort: preset ?? [{ by: SORTS[values.sort ?? 'published'], order: values.order ?? 'desc' }] }),
  }
}
