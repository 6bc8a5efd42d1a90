/** The two sides of a sign-in code: the screen that shows it, and the account that approves or refuses it. */
import {
  type AccountRecord,
  type Actor,
  defineRoute,
  errors,
  isoTime,
  ownUrl,
  type RouteInput,
  Type,
  tellSecurity,
} from 'archivolt'
import type { App } from './app.ts'
import { CODE_SECONDS, spaced, type Waiting } from './codes.ts'

/** Interval between two requests of the screen. */
const INTERVAL_SECONDS = 3

type Request = RouteInput<never, never, never>['request']

export const askForCode = defineRoute({
  method: 'POST',
  path: '/api/sign-in-code/',
  access: 'open',
  summary:
    'Create a short code for a screen without a keyboard; a person who is signed in elsewhere approves it at /link/',
  reply: Type.Object({
    device_code: Type.String({ description: 'a secret, which the screen stores and sends to /login/code/' }),
    user_code: Type.String({ description: 'the short code that the screen shows' }),
    verification_uri: Type.String(),
    verification_uri_complete: Type.String({ description: 'the address with the code, for a QR code' }),
    expires_in: Type.Integer({ description: 'seconds' }),
    interval: Type.Integer({ description: 'seconds between two requests to /login/code/' }),
  }),
  errors: ['bad_request', 'csrf_failed', 'throttled'],
  async handle({ request }, app: App) {
    app.signIns.refuseOtherSites(request)
    app.signInCodeLimits.request(request.address)
    const base = ownUrl(request, app)
    const { secret, code } = await app.signInCodes.request({
      agent: request.headers['user-agent'],
      address: request.address,
    })
    const link = `${base}link/`
    return {
      device_code: secret,
      user_code: spaced(code),
      verification_uri: link,
      verification_uri_complete: `${link}?code=${spaced(code)}`,
      expires_in: CODE_SECONDS,
      interval: INTERVAL_SECONDS,
    }
  },
})

export const enterWithCode = defineRoute({
  method: 'POST',
  path: '/login/code/',
  access: 'open',
  summary: 'The state of a sign-in code; if it was approved, the reply starts a session and sets its cookies',
  body: Type.Object({ device_code: Type.String({ maxLength: 100 }) }),
  reply: Type.Object({
    state: Type.Enum(['waiting', 'signed_in', 'refused', 'expired'], {
      description: 'expired: or unknown, or already used',
    }),
  }),
  errors: ['csrf_failed', 'throttled'],
  async handle({ body, request, headers }, app: App) {
    app.signIns.refuseOtherSites(request)
    app.signInCodeLimits.redeem(request.address)
    const outcome = await app.signInCodes.redeem(body.device_code)
    if (outcome.state !== 'approved') return { state: outcome.state }
    const { proof, by, isByPin } = outcome
    const way = isByPin ? 'code_by_pin' : 'code'
    await app.signIns.start({ proof, isRemembered: true, way }, { request, headers })
    tellSecurity(app.log, 'sign_in', { account: proof.account.id, address: request.address, by, at: 'code' })
    return { state: 'signed_in' as const }
  },
})

const Params = Type.Object({ userCode: Type.String({ maxLength: 40 }) })
const Profile = Type.Object({
  id: Type.Integer(),
  username: Type.String(),
  picture: Type.Union([Type.String(), Type.Null()]),
  needs_pin: Type.Boolean({ description: 'whether its PIN is required' }),
})

export const showCode = defineRoute({
  method: 'GET',
  path: '/api/sign-in-code/:userCode/',
  access: 'viewer',
  scope: 'none',
  summary: 'The screen that shows a sign-in code, and the accounts that the caller may sign in there',
  params: Params,
  reply: Type.Object({
    browser: Type.String({ description: 'name of the browser or program, as it reports it; empty: unknown' }),
    system: Type.String(),
    address: Type.String(),
    created: Type.String({ format: 'date-time' }),
    expires: Type.String({ format: 'date-time' }),
    profiles: Type.Array(Profile, { description: 'the caller’s own first' }),
  }),
  errors: ['not_found', 'throttled'],
  handle({ params: { userCode }, actor, request }, app: App) {
    const { agent, address, createdAt, expiresAt } = waiting(userCode, actor, app)
    return {
      ...app.signIns.clientName(agent),
      address,
      created: isoTime(createdAt),
      expires: isoTime(expiresAt),
      profiles: profilesOf(actor, request, app),
    }
  },
})

export const approveCode = defineRoute({
  method: 'POST',
  path: '/api/sign-in-code/:userCode/',
  access: 'viewer',
  scope: 'none',
  summary: 'Sign one of the profiles in on the screen that shows this code',
  params: Params,
  body: Type.Object({
    user_id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    pin: Type.Optional(Type.String({ maxLength: 8 })),
  }),
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['bad_request', 'not_found', 'permission_denied', 'throttled'],
  async handle({ params: { userCode }, body: { user_id: id, pin }, actor, request, signal }, app: App) {
    waiting(userCode, actor, app)
    const profile = profilesOf(actor, request, app).find((one) => one.id === id)
    if (!profile) throw errors.permissionDenied('You may not sign in to this account on another device')
    if (profile.needs_pin) {
      const from = { cookies: request.headers['cookie'], address: request.address, signal }
      if (!pin || !(await app.accounts.checkPin(id, pin, from))) throw errors.wrongField('pin', 'is wrong')
    } else app.signIns.refuseUnproven(actor)
    const isByPin = profile.needs_pin || (id === actor.id && beganWithPin(actor, app))
    if (!(await app.signInCodes.approve(userCode, id, actor.id, isByPin))) throw unknown()
    return { success: true as const }
  },
})

export const refuseCode = defineRoute({
  method: 'DELETE',
  path: '/api/sign-in-code/:userCode/',
  access: 'viewer',
  scope: 'none',
  summary: 'Refuse to sign in on the screen that shows this code',
  params: Params,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found', 'throttled'],
  async handle({ params: { userCode }, actor }, app: App) {
    waiting(userCode, actor, app)
    if (!(await app.signInCodes.refuse(userCode))) throw unknown()
    return { success: true as const }
  },
})

function waiting(userCode: string, actor: Actor, { signInCodes, signInCodeLimits }: App): Waiting {
  signInCodeLimits.lookUp(actor.id)
  const found = signInCodes.find(userCode)
  if (found) return found
  signInCodeLimits.miss(actor.id)
  throw unknown()
}

const beganWithPin = ({ id, session }: Actor, { accounts }: App): boolean =>
  accounts.sessions(id, session).some(({ is_current, way }) => is_current && way === 'pin')

const unknown = () => errors.notFound('sign-in code')

/**
 * The accounts that the caller may sign in on the screen: its own account; for an admin, also accounts with a view,
 * which admins set up; and accounts that may sign in on the caller's device with their PIN.
 */
function profilesOf(actor: Actor, request: Request, { accounts }: App) {
  const here = accounts.onDevice(request.headers['cookie'])
  const isHere = (id: number) => here.some((one) => one.id === id)
  const isProven = actor.session === undefined || accounts.isProvenLately(actor.session)
  const own = accounts.get(actor.id)!
  const children = actor.isAdmin ? accounts.list().filter(({ view, is_active }) => view && is_active) : []
  const others = here.filter(({ id }) => id !== own.id && children.every((child) => child.id !== id))
  const profile = ({ id, username, picture }: AccountRecord, needs_pin: boolean) => ({
    ...{ id, username, picture, needs_pin },
  })
  return [
    profile(own, !isProven && isHere(own.id)),
    ...children.map((child) => profile(child, false)),
    ...others.map((other) => profile(other, true)),
  ]
}
