/** Requires a recent confirmation of the password for changes that outlast the session. */
import { type Accounts, type Actor, errors } from 'archivolt'

/** @throws permission_denied with `confirm_required` */
export function refuseUnproven(accounts: Accounts, { session }: Actor): void {
  if (session === undefined || accounts.isProvenLately(session)) return
  throw errors.permissionDenied(
    'You signed in a while ago: confirm your password (POST /api/session/), or sign in again',
    { extra: { confirm_required: true } },
  )
}
