/** Accounts: an admin lists, adds, changes and removes them; people see themselves and change their own password. */
import { type Actor, defineRoute, errors, Type } from 'archivolt'
import { LONGEST_PASSWORD } from './signing-in.ts'

const Account = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  is_staff: Type.Boolean(),
  is_active: Type.Boolean(),
  last_login: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
})
const UserParams = Type.Object({ userId: Type.String({ pattern: '^[1-9][0-9]{0,14}$' }) })
const NewPassword = Type.String({ minLength: 8, maxLength: LONGEST_PASSWORD })

export const listUsers = defineRoute({
  method: 'GET',
  path: '/api/user/',
  access: 'admin',
  summary: 'All accounts',
  reply: Type.Array(Account),
  handle: (_input, { accounts }) => accounts.list(),
})

export const addUser = defineRoute({
  method: 'POST',
  path: '/api/user/',
  access: 'admin',
  summary: 'Add an account',
  body: Type.Object({
    username: Type.String({ pattern: '^[\\p{L}\\p{N}@.+_-]{1,150}$' }),
    password: NewPassword,
    is_staff: Type.Optional(Type.Boolean()),
  }),
  reply: Account,
  errors: ['conflict'],
  handle: ({ body: { username, password, is_staff = false } }, { accounts }) =>
    accounts.create({ username, password, isStaff: is_staff }),
})

export const showUser = defineRoute({
  method: 'GET',
  path: '/api/user/:userId/',
  access: 'user',
  summary: 'An account: one’s own, or as an admin any',
  params: UserParams,
  reply: Account,
  errors: ['permission_denied'],
  handle({ params: { userId }, actor }, { accounts }) {
    const id = allowedId(userId, actor)
    const account = accounts.get(id)
    if (!account) throw errors.notFound('user')
    return account
  },
})

export const changeUser = defineRoute({
  method: 'POST',
  path: '/api/user/:userId/',
  access: 'user',
  summary: 'Change an account. Who is no admin changes their own password only, and proves the current one',
  params: UserParams,
  body: Type.Object({
    password: Type.Optional(NewPassword),
    current_password: Type.Optional(Type.String({ maxLength: LONGEST_PASSWORD })),
    is_staff: Type.Optional(Type.Boolean()),
    is_active: Type.Optional(Type.Boolean()),
  }),
  reply: Account,
  errors: ['permission_denied', 'conflict', 'throttled'],
  async handle({ params: { userId }, body, actor, request, signal }, { accounts }) {
    const id = allowedId(userId, actor)
    const { password, current_password: current, is_staff, is_active } = body
    if (!accounts.get(id)) throw errors.notFound('user')
    if (!actor.isAdmin && (is_staff !== undefined || is_active !== undefined))
      throw errors.permissionDenied('Only an admin may change a role')
    if (password === undefined && is_staff === undefined && is_active === undefined)
      throw errors.badRequest('Give one of password, is_staff, is_active')
    const proof =
      current === undefined ? undefined : await accounts.checkOwnPassword(actor.id, current, request.address, signal)
    if (!proof && (!actor.isAdmin || current !== undefined)) {
      throw errors.badRequest('current_password must be the password that you have now', {
        fields: { current_password: current === undefined ? 'is required' : 'is wrong' },
      })
    }
    const change = {
      ...(password !== undefined && { password }),
      ...(is_staff !== undefined && { is_staff }),
      ...(is_active !== undefined && { is_active }),
    }
    return accounts.change(id, change, { proof, keepSession: actor.id === id ? actor.session : undefined })
  },
})

export const removeUser = defineRoute({
  method: 'DELETE',
  path: '/api/user/:userId/',
  access: 'admin',
  summary: 'Remove an account with its token, sessions, positions and settings',
  params: UserParams,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['conflict'],
  async handle({ params: { userId } }, { accounts }) {
    await accounts.remove(Number(userId))
    return { success: true }
  },
})

/** Only an admin sees other accounts. Others get the same answer whether there is one or not. */
function allowedId(userId: string, actor: Actor): number {
  const id = Number(userId)
  if (!actor.isAdmin && id !== actor.id) throw errors.permissionDenied('Only an admin may look at other accounts')
  return id
}
