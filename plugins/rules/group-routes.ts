/** Groups of channels and playlists over HTTP (contract 9.28): all accounts see them, admins change them. */
import { defineRemoval, defineRoute, ID_PATTERN, mustNotBeBlank, Name, ROW_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

const given = {
  name: Name,
  color: Type.String({ pattern: '^#[0-9a-f]{6}$', description: 'such as #3366cc' }),
  members: Type.Array(
    Type.Object(
      { kind: Type.Enum(['channel', 'playlist']), id: Type.String({ pattern: ID_PATTERN }) },
      { additionalProperties: false },
    ),
    { maxItems: 2000 },
  ),
}
export const GroupRecord = Type.Object({ id: Type.Integer(), ...given })
const Params = Type.Object({ groupId: Type.String({ pattern: ROW_PATTERN }) })

export const listGroups = defineRoute({
  method: 'GET',
  path: '/api/group/',
  access: 'user',
  summary: 'Groups of channels and playlists, in their order',
  reply: Type.Array(GroupRecord),
  handle: (_input, app: App) => app.groups.list(),
})

export const addGroup = defineRoute({
  method: 'POST',
  path: '/api/group/',
  access: 'admin',
  summary: 'Add a group',
  body: Type.Object({ ...given, color: Type.Optional(given.color), members: Type.Optional(given.members) }),
  reply: GroupRecord,
  errors: ['bad_request', 'conflict'],
  async handle({ body: { name, color = '#808080', members = [] } }, app: App) {
    mustNotBeBlank(name)
    return app.groups.add({ name, color, members })
  },
})

export const changeGroup = defineRoute({
  method: 'POST',
  path: '/api/group/:groupId/',
  access: 'admin',
  summary: 'Change the name, color, members or position of a group',
  params: Params,
  body: Type.Partial(Type.Object({ ...given, place: Type.Integer({ minimum: 0, maximum: 100 }) })),
  reply: GroupRecord,
  errors: ['bad_request'],
  async handle({ params: { groupId }, body }, app: App) {
    if (body.name !== undefined) mustNotBeBlank(body.name)
    return app.groups.change(Number(groupId), body)
  },
})

export const removeGroup = defineRemoval({
  path: '/api/group/:groupId/',
  access: 'admin',
  summary: 'Remove a group; its channels and playlists stay',
  errors: ['conflict'],
  remove: (id, app: App) => app.groups.remove(id),
})
