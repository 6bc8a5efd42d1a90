/** User preferences: what each account chooses for itself, stored with the account. */
import { defineRoute, MOST_PER_PAGE, mustNotBeBlank, type Static, Type } from 'archivolt'

/** The sort names of `GET /api/video/` (`SORTS` in video/listing.ts; a test compares them). */
export const SORT_NAMES = [
  ...([
    'published',
    'downloaded',
    'views',
    'likes',
    'duration',
    'mediasize',
    'filesize',
    'width',
    'height',
    'lost',
  ] as const),
]

/** The categories of segments (`CATEGORIES` in segment/community.ts; a test compares them). */
export const SEGMENT_CATEGORIES = [
  ...(['sponsor', 'selfpromo', 'interaction', 'intro', 'outro', 'preview', 'filler', 'music_offtopic'] as const),
]
export type SegmentCategory = (typeof SEGMENT_CATEGORIES)[number]
const ofSegments = Type.Optional(Type.Enum(['skip', 'show', 'mute']))

const ViewStyle = Type.Enum(['grid', 'list'])
const VideosStyle = Type.Enum(['grid', 'list', 'table'])

export const UserPreferences = Type.Object(
  {
    /** 0: the installation's page size. */
    page_size: Type.Optional(Type.Integer({ minimum: 0, maximum: MOST_PER_PAGE })),
    sort_by: Type.Optional(Type.Enum(SORT_NAMES)),
    sort_order: Type.Optional(Type.Enum(['asc', 'desc'])),
    hide_watched: Type.Optional(Type.Boolean()),
    show_subed_only: Type.Optional(Type.Boolean()),
    show_ignored_only: Type.Optional(Type.Boolean()),
    grid_items: Type.Optional(Type.Integer({ minimum: 3, maximum: 7 })),
    look: Type.Optional(Type.Enum(['system', 'light', 'dark'])),
    /** A BCP 47 tag; empty: the browser's language. */
    language: Type.Optional(
      Type.String({
        pattern: '^([A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3})?$',
        examples: ['pt-BR'],
        description: 'Language of the page; empty: the browser’s',
      }),
    ),
    view_style_home: Type.Optional(VideosStyle),
    view_style_channel: Type.Optional(VideosStyle),
    view_style_downloads: Type.Optional(ViewStyle),
    view_style_playlist: Type.Optional(ViewStyle),
    /** For the page: the columns of its table, in addition to the title. */
    table_columns: Type.Optional(
      Type.Array(
        Type.Enum(['channel', 'published', 'downloaded', 'duration', 'mediasize', 'height', 'views', 'likes']),
        { uniqueItems: true, description: 'Columns of the table of videos, in addition to the title' },
      ),
    ),
    /** For the page: the query of a filtered list or a search in its address. */
    saved_filters: Type.Optional(
      Type.Array(
        Type.Object(
          { name: Type.String({ minLength: 1, maxLength: 60 }), query: Type.String({ minLength: 1, maxLength: 500 }) },
          { additionalProperties: false },
        ),
        { maxItems: 30, description: 'Named filters of Home and named searches' },
      ),
    ),
    /**
     * For the page: show the platform's titles, community titles, or the platform's with a switch (`ask`, the default).
     */
    titles: Type.Optional(Type.Enum(['original', 'community', 'ask'])),
    /** For the player: what happens in segments of each category; omitted: they are skipped. */
    segments: Type.Optional(
      Type.Object(
        Object.fromEntries(SEGMENT_CATEGORIES.map((name) => [name, ofSegments])) as Record<
          SegmentCategory,
          typeof ofSegments
        >,
        {
          additionalProperties: false,
          description: 'What the player does in segments, by category; default: skip',
        },
      ),
    ),
    stylesheet: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' })),
  },
  { additionalProperties: false },
)
export type UserPreferences = Static<typeof UserPreferences>

export const OwnPreferences = Type.Object({ ...UserPreferences.properties, user_id: Type.Integer() })

export const showOwnPreferences = defineRoute({
  method: 'GET',
  path: '/api/config/user/',
  access: 'viewer',
  summary: 'The settings that the caller has changed',
  reply: OwnPreferences,
  handle: ({ actor }, { accounts }) => ({ ...accounts.userPreferences(actor.id), user_id: actor.id }),
})

export const changeOwnPreferences = defineRoute({
  method: 'POST',
  path: '/api/config/user/',
  access: 'viewer',
  summary: 'Change some of the caller’s settings',
  body: UserPreferences,
  reply: OwnPreferences,
  errors: ['bad_request'],
  async handle({ actor, body }, { accounts }) {
    for (const [at, { name }] of (body.saved_filters ?? []).entries()) mustNotBeBlank(name, `saved_filters.${at}.name`)
    return { ...(await accounts.changeUserPreferences(actor.id, body)), user_id: actor.id }
  },
})
