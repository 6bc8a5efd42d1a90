/** What the caller has set for themself, and what an admin has set for all. */
import { defineRoute, type Static, Type } from 'archivolt'

const ViewStyle = Type.Enum(['grid', 'list'])

export const UserSettings = Type.Object(
  {
    /** 0: the installation's. */
    page_size: Type.Optional(Type.Integer({ minimum: 0, maximum: 200 })),
    sort_by: Type.Optional(
      Type.Enum(['published', 'downloaded', 'views', 'likes', 'duration', 'mediasize', 'filesize', 'width', 'height']),
    ),
    sort_order: Type.Optional(Type.Enum(['asc', 'desc'])),
    hide_watched: Type.Optional(Type.Boolean()),
    show_subed_only: Type.Optional(Type.Boolean()),
    show_ignored_only: Type.Optional(Type.Boolean()),
    grid_items: Type.Optional(Type.Integer({ minimum: 3, maximum: 7 })),
    view_style_home: Type.Optional(ViewStyle),
    view_style_channel: Type.Optional(ViewStyle),
    view_style_downloads: Type.Optional(ViewStyle),
    view_style_playlist: Type.Optional(ViewStyle),
    stylesheet: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' })),
  },
  { additionalProperties: false },
)
export type UserSettings = Static<typeof UserSettings>

const OwnSettings = Type.Object({ ...UserSettings.properties, user_id: Type.Integer() })

export const showOwnSettings = defineRoute({
  method: 'GET',
  path: '/api/config/user/',
  access: 'user',
  summary: 'The settings that the caller has changed',
  reply: OwnSettings,
  handle: ({ actor }, { accounts }) => ({ ...accounts.settings(actor.id), user_id: actor.id }),
})

export const changeOwnSettings = defineRoute({
  method: 'POST',
  path: '/api/config/user/',
  access: 'user',
  summary: 'Change some of the caller’s settings',
  body: UserSettings,
  reply: OwnSettings,
  handle: async ({ actor, body }, { accounts }) => ({
    ...(await accounts.changeSettings(actor.id, body)),
    user_id: actor.id,
  }),
})

/** Its sections are declared by the plugins that read them. */
const AllSettings = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()))

export const showSettings = defineRoute({
  method: 'GET',
  path: '/api/config/',
  access: 'admin',
  summary: 'The settings of the installation',
  reply: AllSettings,
  handle: (_input, { preferences }) => preferences.all(),
})

export const changeSettings = defineRoute({
  method: 'POST',
  path: '/api/config/',
  access: 'admin',
  summary: 'Change some settings of the installation: all of those given, or none',
  body: AllSettings,
  reply: AllSettings,
  async handle({ body }, { preferences }) {
    await preferences.change(body)
    return preferences.all()
  },
})
