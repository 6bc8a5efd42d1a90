/**
 * Routes for the caller's account and user preferences, in the form of the reference's next line: every reply has all
 * keys.
 */
import { type App, defineRoute, MOST_PER_PAGE, type Static, Type, Value } from 'archivolt'
import type { SortName } from '../video/listing.ts'
import { changeForAccount, valuesOfAccount } from './stored-values.ts'

const flagOrNull = (fallback: boolean | null) => Type.Union([Type.Boolean(), Type.Null()], { default: fallback })
const gridOrList = (fallback: 'grid' | 'list') => Type.Enum(['grid', 'list'], { default: fallback })

/** The defaults. */
const CHOICES = {
  stylesheet: Type.Enum(['dark.css', 'light.css', 'matrix.css', 'midnight.css', 'custom.css'], { default: 'dark.css' }),
  page_size: Type.Integer({ minimum: 1, maximum: MOST_PER_PAGE }),
  sort_by: Type.Enum(
    ['published', 'downloaded', 'views', 'likes', 'duration', 'mediasize', 'width', 'height'] satisfies SortName[],
    { default: 'published' satisfies SortName },
  ),
  sort_order: Type.Enum(['asc', 'desc'], { default: 'desc' }),
  view_style_home: Type.Enum(['grid', 'list', 'table'], { default: 'grid' }),
  view_style_channel: gridOrList('list'),
  view_style_downloads: gridOrList('list'),
  view_style_playlist: gridOrList('grid'),
  vid_type_filter: Type.Union([Type.Enum(['videos', 'streams', 'shorts']), Type.Null()], { default: null }),
  grid_items: Type.Integer({ minimum: 3, maximum: 7, default: 3 }),
  hide_watched: flagOrNull(false),
  hide_watched_channel: flagOrNull(null),
  hide_watched_playlist: flagOrNull(null),
  file_size_unit: Type.Enum(['binary', 'metric'], { default: 'binary' }),
  show_ignored_only: Type.Boolean({ default: false }),
  show_subed_only: flagOrNull(null),
  show_subed_only_playlists: flagOrNull(null),
  show_help_text: Type.Boolean({ default: true }),
}
const Choices = Type.Object(CHOICES)
type Choices = Static<typeof Choices>

/** Preferences that exist here, too; the others are stored separately. */
const OURS = new Set([
  ...['stylesheet', 'page_size', 'sort_by', 'sort_order', 'grid_items'],
  ...['view_style_home', 'view_style_channel', 'view_style_downloads', 'view_style_playlist'],
  ...['hide_watched', 'show_ignored_only', 'show_subed_only'],
])
const isOurs = (key: string, value: unknown): boolean => OURS.has(key) && value !== null

function choicesOf(app: App, id: number): Choices {
  const { page_size: ownSize, ...own } = app.accounts.userPreferences(id)
  const chosen: Record<string, unknown> = {
    ...own,
    ...(ownSize ? { page_size: ownSize } : {}),
    ...valuesOfAccount(app, id),
  }
  return Object.fromEntries(
    Object.entries(CHOICES).map(([key, schema]) => {
      const value = chosen[key] ?? null
      const fallback = key === 'page_size' ? app.settings.pageSize : (schema as { default?: unknown }).default
      return [key, key in chosen && Value.Check(schema, value) ? value : fallback]
    }),
  ) as Choices
}

export const showMe = defineRoute({
  method: 'GET',
  path: '/api/user/me/',
  access: 'viewer',
  summary: 'All preferences of the account',
  reply: Choices,
  handle: ({ actor }, app) => choicesOf(app, actor.id),
})

export const changeMe = defineRoute({
  method: 'POST',
  path: '/api/user/me/',
  access: 'viewer',
  summary: 'Change preferences of the account',
  body: Type.Partial(Choices, { additionalProperties: false }),
  reply: Choices,
  errors: ['bad_request'],
  async handle({ actor, body }, app) {
    const given = Object.entries(body)
    const ours = given.filter(([key, value]) => isOurs(key, value))
    await changeForAccount(app, actor.id, (before) => {
      const stored = { ...before, ...Object.fromEntries(given) }
      // A stored value must not hide a preference that now exists here.
      for (const [key] of ours) delete stored[key]
      return stored
    })
    if (ours.length > 0) await app.accounts.changeUserPreferences(actor.id, Object.fromEntries(ours))
    return choicesOf(app, actor.id)
  },
})

export const showAccount = defineRoute({
  method: 'GET',
  path: '/api/user/account/',
  access: 'viewer',
  summary: 'The account of the request',
  reply: Type.Object({
    id: Type.Integer(),
    name: Type.String(),
    is_superuser: Type.Boolean(),
    is_staff: Type.Boolean(),
    groups: Type.Array(Type.String()),
    user_permissions: Type.Array(Type.String()),
    last_login: Type.Union([Type.String(), Type.Null()]),
  }),
  handle({ actor: { id, username, isAdmin } }, { accounts }) {
    const last_login = accounts.get(id)?.last_login ?? null
    return {
      id,
      name: username,
      is_superuser: isAdmin,
      is_staff: isAdmin,
      groups: [],
      user_permissions: [],
      last_login,
    }
  },
})
