/** The service `signIns`, for plugins that add another way of signing in. */
import type { Accounts, Actor, Proof, SignInFrom } from 'archivolt'
import { isName } from './account-routes.ts'
import { type ClientName, clientNameOf } from './accounts/client-name.ts'
import { refuseUnproven } from './late-proof.ts'
import { type Browser, refuseOtherSites, startSession } from './session-cookies.ts'

export interface SignIns {
  /** Call it before a sign-in. @throws csrf_failed: another site's page has sent the request */
  refuseOtherSites(request: { isCrossSite: boolean }): void
  /** Opens a session in this browser, with cookies in the reply. @throws bad_request: the proof is no longer valid */
  start(session: { proof: Proof; isRemembered: boolean; way: SignInFrom['way'] }, browser: Browser): Promise<void>
  /**
   * Call it before a change that outlives the session: somebody who finds an open browser must not be able to take over
   * the account. @throws permission_denied with `confirm_required`: the password must be confirmed again
   */
  refuseUnproven(actor: Actor): void
  /** Derives the names of the browser and system from a `User-Agent`, which is not verified. */
  clientName(agent: string | undefined): ClientName
  /** Whether a name is allowed for an account. */
  isName(text: string): boolean
}

export const openSignIns = (accounts: Accounts): SignIns => ({
  refuseOtherSites,
  start: (session, browser) => startSession(accounts, session, browser),
  clientName: clientNameOf,
  refuseUnproven: (actor) => refuseUnproven(accounts, actor),
  isName,
})
