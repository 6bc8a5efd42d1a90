/** The schema and the check of `current_password`, which routes require before changes of an account's own secrets. */
import { type Accounts, type Actor, errors, type Proof, Type } from 'archivolt'
import { LONGEST_PASSWORD } from './password-rule.ts'

/** A password that is compared with the stored one, so that it may be weak. */
export const Password = Type.String({ maxLength: LONGEST_PASSWORD })

export const wrongPassword = (fault: 'is required' | 'is wrong') =>
  errors.badRequest('current_password must be your current password', { fields: { current_password: fault } })

/** @throws bad_request: the password is wrong; throttled */
export async function proofOfPassword(
  accounts: Accounts,
  input: { actor: Actor; body: { current_password: string }; request: { address: string }; signal: AbortSignal },
): Promise<Proof> {
  const { actor, body, request, signal } = input
  const proof = await accounts.checkOwnPassword(actor.id, body.current_password, request.address, signal)
  if (!proof) throw wrongPassword('is wrong')
  return proof
}
