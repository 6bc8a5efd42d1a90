/** Accounts: an admin lists, adds, changes and removes them; people see themselves and change their own password. */
import {
  type Actor,
  type App,
  chosenKinds,
  defineRoute,
  errors,
  ID_PATTERN,
  isHiding,
  kindIn,
  MOST_CHOSEN,
  NOT,
  say,
  Type,
  type View,
} from 'archivolt'
import { Password, wrongPassword } from './current-password.ts'
import { Picture, Pin, UserParams } from './device-routes.ts'
import { refuseUnproven } from './late-proof.ts'
import { LONGEST_PASSWORD, refuseWeak, SHORTEST_PASSWORD } from './password-rule.ts'
import { keepOnDevice } from './session-cookies.ts'

/** The chosen ids, by kind. The indexes define the kinds. */
const AccountView = Type.Union([
  Type.Null(),
  Type.Record(
    Type.String(),
    Type.Array(Type.String({ pattern: ID_PATTERN }), { maxItems: MOST_CHOSEN, uniqueItems: true }),
  ),
])
export const Account = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  is_staff: Type.Boolean(),
  is_active: Type.Boolean(),
  may_download: Type.Boolean(),
  view: AccountView,
  has_pin: Type.Boolean(),
  has_totp: Type.Boolean(),
  picture: Picture,
  last_login: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
})
const NAME_PATTERN = '^[\\p{L}\\p{N}@.+_-]{1,150}$'
const NAME = new RegExp(NAME_PATTERN, 'u')
/** Letters that are invisible, such as the Hangul filler. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
/** Whether a name is allowed for an account. */
export const isName = (text: string): boolean => NAME.test(text) && !INVISIBLE.test(text)
const NewPassword = Type.String({ minLength: SHORTEST_PASSWORD, maxLength: LONGEST_PASSWORD })

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
    username: Type.String({ pattern: NAME_PATTERN, 'x-words': say`a name of 1 to 150 letters, digits and @ . + - _` }),
    password: NewPassword,
    is_staff: Type.Optional(Type.Boolean()),
    may_download: Type.Optional(Type.Boolean()),
    view: Type.Optional(AccountView),
  }),
  reply: Account,
  errors: ['bad_request', 'conflict'],
  async handle({ body: { username, password, is_staff = false, may_download = false, view = null }, actor }, app) {
    refuseUnproven(app.accounts, actor)
    if (!isName(username)) throw errors.wrongField('username', 'contains invisible characters')
    await refuseWeak(password, username)
    const checked = view && (await checkedView(view, null, app))
    return app.accounts.create({ username, password, isStaff: is_staff, mayDownload: may_download, view: checked })
  },
})

export const showUser = defineRoute({
  method: 'GET',
  path: '/api/user/:userId/',
  access: 'viewer',
  summary: 'An account: the caller’s own, or for admins any account',
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
  access: 'viewer',
  scope: 'admin',
  summary:
    'Change an account. Only admins can change more than their own password and PIN. Changing one’s own password or PIN requires the current password',
  params: UserParams,
  body: Type.Object({
    password: Type.Optional(NewPassword),
    pin: Type.Optional(Type.Union([Pin, Type.Null()])),
    totp: Type.Optional(Type.Null()),
    current_password: Type.Optional(Password),
    is_staff: Type.Optional(Type.Boolean()),
    is_active: Type.Optional(Type.Boolean()),
    may_download: Type.Optional(Type.Boolean()),
    view: Type.Optional(AccountView),
  }),
  reply: Account,
  errors: ['permission_denied', 'bad_request', 'conflict', 'throttled'],
  async handle({ params: { userId }, body, actor, request, headers, signal }, app) {
    const { accounts } = app
    const id = allowedId(userId, actor)
    const { current_password: current, password, pin, totp, is_staff, is_active, may_download, view } = body
    const account = accounts.get(id)
    if (!account) throw errors.notFound('user')
    const isOfAdmin = [totp, is_staff, is_active, may_download, view].some((value) => value !== undefined)
    if (!actor.isAdmin && isOfAdmin) throw errors.permissionDenied('Only an admin may change the rights of an account')
    if (password === undefined && pin === undefined && !isOfAdmin)
      throw errors.badRequest('Send at least one of password, pin, totp, is_staff, is_active, may_download, view')
    if (totp === null && id === actor.id)
      throw errors.permissionDenied(
        'Turn off your own authenticator app with DELETE /api/totp/, which requires your password and a code',
      )
    // A token gives access to its account: an admin may revoke it, but not see it.
    if (typeof pin === 'string' && id !== actor.id)
      throw errors.permissionDenied('Only the account itself can set its PIN; an admin can remove it')
    if (password !== undefined) await refuseWeak(password, account.username)
    // Somebody who finds an open browser must not be able to take over the account.
    const isOwnSecret = id === actor.id && (password !== undefined || pin !== undefined)
    const proof =
      current === undefined ? undefined : await accounts.checkOwnPassword(actor.id, current, request.address, signal)
    if (!proof && (!actor.isAdmin || current !== undefined || isOwnSecret))
      throw wrongPassword(current === undefined ? 'is required' : 'is wrong')
    // Changes that would let an admin sign in as another account, or make another account an admin.
    const isWayIn = id !== actor.id && (password !== undefined || totp === null)
    if (!proof && (isWayIn || is_staff === true)) refuseUnproven(accounts, actor)
    const change = {
      ...(password !== undefined && { password }),
      ...(pin !== undefined && { pin }),
      ...(totp === null && { totp }),
      ...(is_staff !== undefined && { is_staff }),
      ...(is_active !== undefined && { is_active }),
      ...(may_download !== undefined && { may_download }),
      ...(view !== undefined && { view: view && (await checkedView(view, account.view, app)) }),
    }
    const changed = await accounts.change(id, change, {
      proof,
      keepSession: actor.id === id ? actor.session : undefined,
    })
    if (view !== undefined) await app.emit('view.changed', {})
    if (proof && typeof pin === 'string' && actor.via === 'session' && password === undefined)
      await keepOnDevice(accounts, proof, { request, headers })
    return changed
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
  async handle({ params: { userId } }, { accounts, emit }) {
    const id = Number(userId)
    await accounts.remove(id)
    await emit('user.removed', { id })
    return { success: true }
  },
})

/** Only an admin sees other accounts. All others get the same reply, whether the account exists or not. */
function allowedId(userId: string, actor: Actor): number {
  const id = Number(userId)
  if (!actor.isAdmin && id !== actor.id) throw errors.permissionDenied('Only an admin may see other accounts')
  return id
}

/**
 * Validates a view, and adds all kinds, so that the reply always has the same form.
 * @param before  ids that are already in the view stay, even if their document no longer exists
 * @throws bad_request  a kind that cannot be chosen, or an id that is not in the archive
 */
async function checkedView(view: View, before: View | null, { index, accounts }: App): Promise<View> {
  const kinds = chosenKinds(index.definitions)
  const named = kinds.map((kind) => kindIn(view, kind))
  const ofGroups = kindIn(view, 'group')
  const exceptions = kinds.filter((kind) => isHiding(view) && (view[kind]?.length ?? 0) > 0)
  const odd = Object.keys(view).find((kind) => ![...named, ...exceptions, ofGroups].includes(kind))
  if (odd !== undefined) {
    const rule = say`must be one of ${{ kinds: [...kinds, 'group'].join(', ') }}, or, if the view hides, one of these with the prefix ${{ not: NOT }}`
    throw errors.badRequest(say`view.${{ odd }}: ${{ rule }}`, {
      fields: { [`view.${odd}`]: rule },
    })
  }
  const checked: Record<string, readonly string[]> = {}
  for (const name of [...named, ...exceptions]) {
    const kind = name.startsWith(NOT) ? name.slice(NOT.length) : name
    // A document that is hidden by name cannot also be an exception.
    const ids = (checked[name] = (view[name] ?? []).filter((id) => name !== kind || !view[NOT + kind]?.includes(id)))
    const definition = index.definitions.find(({ name }) => name === kind)!
    const known = await index.collection(definition).known(ids)
    const gone = ids.find((id) => !known.has(id) && !before?.[name]?.includes(id))
    if (gone !== undefined)
      throw errors.badRequest(say`The archive has no ${{ kind }} ${{ gone }}`, {
        fields: { [`view.${name}`]: say`${{ gone }} is not in the archive` },
      })
  }
  const groups = view[ofGroups] ?? []
  const unknown = groups.find((id) => !accounts.isGroup(id))
  if (unknown !== undefined)
    throw errors.badRequest(say`There is no group ${{ id: unknown }}`, {
      fields: { [`view.${ofGroups}`]: say`${{ id: unknown }} is not a group` },
    })
  if (groups.length > 0) checked[ofGroups] = groups
  return checked
}
