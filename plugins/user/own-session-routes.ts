/**
 * The caller's sessions, which can be ended individually or all except the current one, and sign-ins on new devices.
 */
import { defineRoute, ID_PATTERN, ROW_PATTERN, type Static, Type } from 'archivolt'
import { Moment } from './access-token-routes.ts'

const origin = {
  browser: Type.String({ description: 'name of the browser or program, as it reports it; empty: unknown' }),
  system: Type.String(),
  address: Type.String(),
}
const OwnSession = Type.Object({
  id: Type.String(),
  is_current: Type.Boolean(),
  ...origin,
  way: Type.Enum(['password', 'pin', 'provider', 'proxy', 'code']),
  created: Moment,
  last_used: Moment,
  expires: Moment,
})
export const NewSignIn = Type.Object({ id: Type.Integer(), ...origin, at: Moment })
export type NewSignIn = Static<typeof NewSignIn>

const Done = Type.Object({ success: Type.Literal(true) })

export const listOwnSessions = defineRoute({
  method: 'GET',
  path: '/api/own-session/',
  access: 'viewer',
  scope: 'none',
  summary: 'The caller’s sessions, most recently used first',
  reply: Type.Array(OwnSession),
  handle: ({ actor }, { accounts }) => accounts.sessions(actor.id, actor.session),
})

export const endOtherSessions = defineRoute({
  method: 'DELETE',
  path: '/api/own-session/',
  access: 'viewer',
  scope: 'none',
  summary: 'End all sessions of the caller except the current one',
  reply: Done,
  async handle({ actor }, { accounts }) {
    await accounts.endOtherSessions(actor.id, actor.session)
    return { success: true as const }
  },
})

export const endOwnSession = defineRoute({
  method: 'DELETE',
  path: '/api/own-session/:sessionId/',
  access: 'viewer',
  scope: 'none',
  summary: 'End a session of the caller; its device then requires the password again',
  params: Type.Object({ sessionId: Type.String({ pattern: ID_PATTERN }) }),
  reply: Done,
  errors: ['not_found'],
  async handle({ params: { sessionId }, actor }, { accounts }) {
    await accounts.endNamedSession(actor.id, sessionId)
    return { success: true as const }
  },
})

export const seeNewSignIn = defineRoute({
  method: 'DELETE',
  path: '/api/new-sign-in/:signInId/',
  access: 'viewer',
  scope: 'none',
  summary: 'Mark a sign-in on a new device as seen; the new device itself cannot do this',
  params: Type.Object({ signInId: Type.String({ pattern: ROW_PATTERN }) }),
  reply: Done,
  errors: ['not_found'],
  async handle({ params: { signInId }, actor }, { accounts }) {
    await accounts.seeSignIn(actor.id, Number(signInId), actor.session)
    return { success: true as const }
  },
})
