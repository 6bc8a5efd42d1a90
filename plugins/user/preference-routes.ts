/**
 * The routes of preferences, which admins change while the server runs. Plugins declare them in their `preferences.ts`.
 */
import { defineRoute, Type, tellSecurity } from 'archivolt'

/** Schema of the preferences. Plugins declare the sections; the API's description shows those instead. */
const preferencesOf = (which: 'all' | 'some') =>
  Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), { 'x-preferences': which })
const AllPreferences = preferencesOf('all')

export const showPreferences = defineRoute({
  method: 'GET',
  path: '/api/config/',
  access: 'admin',
  summary: 'The settings of the installation',
  reply: AllPreferences,
  handle: (_input, { preferences }) => preferences.all(),
})

const Described = Type.Record(
  Type.String(),
  Type.Object({ type: Type.Literal('object'), properties: Type.Record(Type.String(), Type.Unknown()) }),
)

export const describePreferences = defineRoute({
  method: 'GET',
  path: '/api/config/schema/',
  access: 'admin',
  summary: 'The valid values of the installation’s settings: a JSON Schema for each section',
  reply: Described,
  handle: (_input, { preferences }) =>
    Object.fromEntries(
      Object.entries(preferences.sections).map(([section, properties]) => [section, { type: 'object', properties }]),
    ),
})

export const changePreferences = defineRoute({
  method: 'POST',
  path: '/api/config/',
  access: 'admin',
  summary: 'Change settings of the installation: all that are given, or none',
  body: preferencesOf('some'),
  reply: AllPreferences,
  async handle({ body }, { preferences, log }) {
    await preferences.change(body)
    const keys = Object.entries(body).flatMap(([section, of]) => Object.keys(of).map((key) => `${section}.${key}`))
    tellSecurity(log, 'settings_changed', { keys })
    return preferences.all()
  },
})
