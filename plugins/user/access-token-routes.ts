/** The access tokens of the calling account: listed without their secret, created, revoked one by one. */
import { defineRemoval, defineRoute, errors, mustNotBeBlank, SCOPES, say, Type } from 'archivolt'
import { refuseUnproven } from './late-proof.ts'

export const Moment = Type.String({ format: 'date-time' })
const AccessToken = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  scope: Type.Enum([...SCOPES]),
  created: Moment,
  expires: Type.Union([Moment, Type.Null()]),
  last_used: Type.Union([Moment, Type.Null()]),
})

export const listAccessTokens = defineRoute({
  method: 'GET',
  path: '/api/access-token/',
  access: 'viewer',
  scope: 'none',
  summary: 'The caller’s access tokens, without their secrets',
  reply: Type.Array(AccessToken),
  handle: ({ actor }, { accounts }) => accounts.accessTokens(actor.id),
})

export const addAccessToken = defineRoute({
  method: 'POST',
  path: '/api/access-token/',
  access: 'viewer',
  scope: 'none',
  summary: 'Create an access token; only this reply contains it',
  body: Type.Object({
    name: Type.String({ pattern: '^[^\\p{C}]{0,99}[^\\p{C}\\s]$', 'x-words': say`a name of 1 to 100 characters` }),
    scope: Type.Enum([...SCOPES]),
    expires: Type.Optional(Type.Union([Type.String({ maxLength: 40 }), Type.Null()])),
  }),
  reply: Type.Object({ ...AccessToken.properties, token: Type.String() }),
  errors: ['bad_request', 'conflict', 'permission_denied'],
  handle({ body: { name, scope, expires = null }, actor }, { accounts, clock }) {
    refuseUnproven(accounts, actor)
    mustNotBeBlank(name)
    const expiresAt = expires === null ? null : futureSecond(expires, clock.now())
    return accounts.addAccessToken(actor.id, { name, scope, expiresAt })
  },
})

export const revokeAccessToken = defineRemoval({
  path: '/api/access-token/:tokenId/',
  access: 'viewer',
  scope: 'none',
  summary: 'Revoke one of the caller’s access tokens',
  remove: (id, { accounts }, actor) => accounts.revokeAccessToken(actor.id, id),
})

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/

function futureSecond(text: string, now: number): number {
  const refuse = (rule: string) => errors.wrongField('expires', rule)
  const second = ISO.test(text) ? Math.floor(Date.parse(text) / 1000) : Number.NaN
  if (Number.isNaN(second)) throw refuse('must be a date and time with its zone, such as 2027-01-31T12:00:00Z, or null')
  if (second * 1000 <= now) throw refuse('must be in the future, or null')
  return second
}
