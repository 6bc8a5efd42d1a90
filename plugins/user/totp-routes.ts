/** The caller's authenticator app as a second factor: set up with the password, enabled by a code, disabled by both. */
import { defineRoute, errors, Type } from 'archivolt'
import { LONGEST_PASSWORD } from './password-rule.ts'
import { Code } from './sign-in-routes.ts'

const Password = Type.String({ maxLength: LONGEST_PASSWORD })
const wrongPassword = () =>
  errors.badRequest('current_password must be your current password', {
    fields: { current_password: 'is wrong' },
  })

export const showTotp = defineRoute({
  method: 'GET',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'Whether a login of the caller asks for a code, and how many recovery codes are left',
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
  summary: 'A new key for an authenticator app; nothing asks for its codes yet',
  body: Type.Object({ current_password: Password }),
  reply: Type.Object({ secret: Type.String(), uri: Type.String() }),
  errors: ['conflict'],
  async handle({ body, actor, request, signal }, { accounts }) {
    const proof = await accounts.checkOwnPassword(actor.id, body.current_password, request.address, signal)
    if (!proof) throw wrongPassword()
    return accounts.beginTotp(actor.id, proof)
  },
})

export const enableTotp = defineRoute({
  method: 'PUT',
  path: '/api/totp/',
  access: 'viewer',
  scope: 'none',
  summary: 'A code of the app that was given the key: from now on a login asks for one',
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
  summary: 'The password alone signs the caller in again',
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
