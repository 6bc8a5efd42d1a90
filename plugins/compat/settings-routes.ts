/** Routes for the installation's settings in the form of the reference's next line: unset values are null. */
import { type App, checkValue, defineRoute, type Static, type TSchema, Type } from 'archivolt'

const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Size = nullable(Type.Integer({ minimum: 0 }))
const Count = nullable(Type.Integer())
const Line = nullable(Type.String())

const Settings = Type.Object({
  subscriptions: Type.Object({
    channel_size: Size,
    live_channel_size: Size,
    shorts_channel_size: Size,
    playlist_size: Size,
    auto_start: Type.Boolean(),
    extract_flat: Type.Boolean(),
  }),
  downloads: Type.Object({
    ...{ limit_speed: Count, sleep_interval: Count, autodelete_days: Count, throttledratelimit: Count },
    ...{ format: Line, format_sort: Line, subtitle: Line, extractor_lang: Line, comment_max: Line },
    subtitle_source: nullable(Type.Enum(['auto', 'user'])),
    comment_sort: nullable(Type.Enum(['top', 'new'])),
    ...{ add_metadata: Type.Boolean(), subtitle_index: Type.Boolean(), cookie_import: Type.Boolean() },
    ...{ integrate_ryd: Type.Boolean(), integrate_sponsorblock: Type.Boolean() },
    pot_provider_url: Line,
  }),
  application: Type.Object({ enable_snapshot: Type.Boolean(), enable_cast: Type.Boolean() }),
})
type Values = Record<string, Record<string, unknown>>

/** Fixed here: a list is queued without a request for each entry. */
const ALWAYS: Record<string, { schema: TSchema; value: unknown }> = {
  'subscriptions.extract_flat': { schema: Type.Boolean(), value: true },
}
/** Values that are in another section here. */
const ELSEWHERE: Record<string, [section: string, key: string]> = {
  'downloads.pot_provider_url': ['platform', 'token_provider'],
}
const placeOf = (group: string, key: string) => ELSEWHERE[`${group}.${key}`] ?? ([group, key] as const)
/** 0: none is scanned. */
const isSize = (key: string): boolean => key.endsWith('_size')

const GROUPS = Object.entries(Settings.properties).map(
  ([group, { properties }]) => [group, Object.keys(properties)] as const,
)

function settingsOf(app: App): Static<typeof Settings> {
  const all = app.preferences.all()
  const shown = (group: string, key: string): unknown => {
    const always = ALWAYS[`${group}.${key}`]
    if (always) return always.value
    const [section, name] = placeOf(group, key)
    const value = all[section]?.[name]
    const schema: { type?: unknown } | undefined = app.preferences.sections[section]?.[name]
    const isFlag = schema?.type === 'boolean'
    return (value === false && !isFlag) || (value === 0 && isSize(key)) ? null : (value ?? false)
  }
  return Object.fromEntries(
    GROUPS.map(([group, keys]) => [group, Object.fromEntries(keys.map((key) => [key, shown(group, key)]))]),
  ) as never
}

export const showSettings = defineRoute({
  method: 'GET',
  path: '/api/appsettings/config/',
  access: 'viewer',
  summary: 'All settings of the installation; null: not set',
  reply: Settings,
  handle({ actor }, app) {
    const settings = settingsOf(app)
    // Every account can read these; addresses of machines in the network are only for admins.
    if (!actor.isAdmin) settings.downloads.pot_provider_url = null
    return settings
  },
})

export const changeSettings = defineRoute({
  method: 'POST',
  path: '/api/appsettings/config/',
  access: 'admin',
  summary: 'Change settings of the installation: all that are given, or none',
  body: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown())),
  reply: Settings,
  errors: ['bad_request'],
  async handle({ body }, app) {
    // An object without a prototype, because `constructor` must not count as a section.
    const changes: Values = Object.create(null)
    for (const [group, keys] of Object.entries(body))
      for (const [key, value] of Object.entries(keys)) {
        const path = `${group}.${key}`
        const { [path]: always } = ALWAYS
        const [section, name] = placeOf(group, key)
        if (always) checkValue(always.schema, value, path)
        else (changes[section] ??= {})[name] = value === null ? (isSize(key) ? 0 : false) : value
      }
    // v0.5 has one switch for two of our settings.
    const metadata = changes['downloads']?.['add_metadata']
    if (metadata !== undefined) changes['downloads']!['add_thumbnail'] = metadata
    await app.preferences.change(changes)
    return settingsOf(app)
  },
})
