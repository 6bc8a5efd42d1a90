/** The caller's authenticator app as a second factor: set up with the password, enabled by a code, disabled by both. */
import { defineRoute, errors, Type } from 'archivolt'
import { Password, proofOfPassword } from './current-password.ts'
import { Code } from './sign-in-routes.ts'

export const showTotp = defineRoute({
  method: 'GET',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'Whether signing in requires a code of the caller, and how many recovery codes are left',
  reply: Type.Object({ enabled: Type.Boolean(), recovery_codes: Type.Integer() }),
  handle({ actor }, { accounts }) {
    const { isOn, recoveryCodes } = accounts.totp(actor.id)
    return { enabled: isOn, recovery_codes: recoveryCodes }
  },
})

export const beginTotp = defineRoute({
  method: 'POST',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'Create a key for an authenticator app; its codes are not required until the app is enabled',
  body: Type.Object({ current_password: Password }),
  reply: Type.Object({ secret: Type.String(), uri: Type.String() }),
  errors: ['conflict'],
  handle: async (input, { accounts }) => accounts.beginTotp(input.actor.id, await proofOfPassword(accounts, input)),
})

export const enableTotp = defineRoute({
  method: 'PUT',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'Enable the authenticator app with one of its codes: from now on, signing in requires a code',
  body: Type.Object({ code: Code }),
  reply: Type.Object({ recovery_codes: Type.Array(Type.String()) }),
  handle: async ({ body, actor }, { accounts }) => ({
    recovery_codes: await accounts.enableTotp(actor.id, body.code.replace(/\s/g, ''), actor.session),
  }),
})

export const disableTotp = defineRoute({
  method: 'DELETE',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'Disable the authenticator app: the password is sufficient to sign in again',
  body: Type.Object({ current_password: Password, code: Code }),
  reply: Type.Object({ success: Type.Literal(true) }),
  async handle({ body: { current_password, code }, actor, request, signal }, { accounts }) {
    const given = { password: current_password, code }
    if (
      !(await accounts.disableTotp(actor.id, given, { address: request.address, signal, keepSession: actor.session }))
    )
      throw errors.badRequest('The password or the code is wrong')
    return { success: true as const }
  },
})
