/** Signing in and out: tokens for programs, sessions for browsers. */
import { type Accounts, defineRoute, errors, type Proof, say, Type } from 'archivolt'
import { Password } from './current-password.ts'
import { refuseUnproven } from './late-proof.ts'
import { fromOf, refuseOtherSites, startSession } from './session-cookies.ts'

const LONGEST_NAME = 150

const Name = Type.String({ maxLength: LONGEST_NAME })
/** Six digits, or a recovery code with or without hyphens. */
export const Code = Type.String({ maxLength: 40 })

/** Checked by the handler, so that one reply names all missing fields. */
const NEEDED = { 'x-form': { required: ['username', 'password'] } }

/** `name` means the same as `username`. */
const Credentials = Type.Object(
  {
    username: Type.Optional(Name),
    name: Type.Optional(Type.String({ maxLength: LONGEST_NAME, description: 'an alias of username' })),
    password: Type.Optional(Password),
    /** Code from an authenticator app, or a recovery code, if the account requires one. */
    code: Type.Optional(Code),
  },
  NEEDED,
)

async function signIn(
  accounts: Accounts,
  body: { username?: string; name?: string; password?: string; code?: string },
  address: string,
  signal: AbortSignal,
): Promise<Proof> {
  const username = body.username ?? body.name
  const { password, code } = body
  if (username === undefined || password === undefined) {
    const fields = {
      ...(username === undefined && { username: 'is required' }),
      ...(password === undefined && { password: 'is required' }),
    }
    const missing = Object.keys(fields)
    if (missing.length === 1) throw errors.wrongField(missing[0]!, 'is required')
    throw errors.badRequest(say`${{ fields: missing.join(' and ') }} are required`, { fields })
  }
  const proof = await accounts.checkPassword(username, password, address, signal, code || undefined)
  if (!proof) {
    const wrong = code ? WRONG_WITH_CODE : WRONG
    throw errors.badRequest(wrong, { extra: { non_field_errors: [wrong] } })
  }
  return proof
}

const WRONG = 'Wrong username or password'
const WRONG_WITH_CODE = 'Wrong name, password or code'

export const loginWithToken = defineRoute({
  method: 'POST',
  path: '/api/login/',
  access: 'open',
  summary: 'The token of an account, for its name and password, without a session',
  form: true,
  body: Credentials,
  reply: Type.Object({ token: Type.String(), user_id: Type.Integer() }),
  errors: ['throttled'],
  async handle({ body, request, signal }, { accounts }) {
    const proof = await signIn(accounts, body, request.address, signal)
    const { id } = proof.account
    const token = await accounts.token(id, proof)
    await accounts.noteProgram(id, fromOf(request, 'password'))
    return { token, user_id: id }
  },
})

export const ping = defineRoute({
  method: 'GET',
  path: '/api/ping/',
  access: 'viewer',
  summary: 'Whether the credentials are valid, and the version of the server',
  reply: Type.Object({ response: Type.Literal('pong'), user: Type.Integer(), version: Type.String() }),
  handle: ({ actor }, { version }) => ({ response: 'pong', user: actor.id, version: `v${version}` }),
})

export const login = defineRoute({
  method: 'POST',
  path: '/login/',
  access: 'open',
  summary: 'Start a session: sets the cookies sessionid and csrftoken',
  form: true,
  body: Type.Object(
    { ...Credentials.properties, remember_me: Type.Optional(Type.Union([Type.Enum(['on', 'off']), Type.Boolean()])) },
    NEEDED,
  ),
  reply: Type.Null(),
  status: 204,
  errors: ['throttled', 'csrf_failed'],
  async handle({ body, request, headers, signal }, { accounts }) {
    refuseOtherSites(request)
    const proof = await signIn(accounts, body, request.address, signal)
    const isRemembered = body.remember_me === 'on' || body.remember_me === true
    await startSession(accounts, { proof, isRemembered, way: 'password' }, { request, headers })
    return undefined
  },
})

export const logout = defineRoute({
  method: 'POST',
  path: '/logout/',
  access: 'viewer',
  scope: 'read',
  summary: 'End the session; a token stays valid',
  reply: Type.Null(),
  status: 204,
  async handle({ actor, headers }, { accounts }) {
    if (actor.session !== undefined) await accounts.endSession(actor.session)
    headers.cookie('sessionid', '', { maxAgeSeconds: 0, httpOnly: true })
    headers.cookie('csrftoken', '', { maxAgeSeconds: 0 })
    // The reply does not clear the storage, which contains offline videos, nor the cookie of a device that accepts a
    // PIN.
    headers.set('Clear-Site-Data', '"cache"')
    return undefined
  },
})

export const showToken = defineRoute({
  method: 'GET',
  path: '/api/token/',
  access: 'viewer',
  scope: 'none',
  summary: 'The caller’s token; created if there is none',
  reply: Type.Object({ token: Type.String() }),
  errors: ['permission_denied'],
  async handle({ actor }, { accounts }) {
    refuseUnproven(accounts, actor)
    return { token: await accounts.token(actor.id) }
  },
})

export const revokeToken = defineRoute({
  method: 'DELETE',
  path: '/api/token/',
  access: 'viewer',
  scope: 'none',
  summary: 'Revoke the caller’s token; the next request for it creates another one',
  reply: Type.Object({ success: Type.Literal(true) }),
  async handle({ actor }, { accounts }) {
    await accounts.revokeToken(actor.id)
    return { success: true }
  },
})
