/** The service `signIns`: for plugins that bring another way to prove who one is. */
import type { Accounts, Actor, Proof } from 'archivolt'
import { isName } from './account-routes.ts'
import { refuseUnproven } from './late-proof.ts'
import { type Browser, startSession } from './session-cookies.ts'

export interface SignIns {
  /** A session for this browser, by cookies of the reply. @throws bad_request: the proof no longer holds */
  start(proof: Proof, isRemembered: boolean, browser: Browser): Promise<void>
  /**
   * Before something that would outlive the session: whoever finds a browser signed in must not get to keep its
   * account. @throws permission_denied with `confirm_required`: the password is to be shown once more
   */
  refuseUnproven(actor: Actor): void
  /** Whether an account may be called so. */
  isName(text: string): boolean
}

export const openSignIns = (accounts: Accounts): SignIns => ({
  start: (proof, isRemembered, browser) => startSession(accounts, { proof, isRemembered, way: 'provider' }, browser),
  refuseUnproven: (actor) => refuseUnproven(accounts, actor),
  isName,
})
