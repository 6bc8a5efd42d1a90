/** What a browser is given to keep: its session, and the id of a device where a PIN is enough. */
import { type Accounts, errors, type Proof, type RouteInput } from 'archivolt'

export interface Browser {
  request: Pick<RouteInput<never, never, never>['request'], 'headers'>
  headers: RouteInput<never, never, never>['headers']
}

/** Otherwise another site's page could sign its visitor in to an attacker's account. */
export function refuseOtherSites({ isCrossSite }: { isCrossSite: boolean }): void {
  if (isCrossSite) throw errors.crossSite()
}

export async function startSession(
  accounts: Accounts,
  proof: Proof,
  isRemembered: boolean,
  browser: Browser,
): Promise<void> {
  const { headers } = browser
  const { sessionId, csrfToken, maxAgeSeconds } = await accounts.openSession(proof.account.id, isRemembered, proof)
  headers.cookie('sessionid', sessionId, { maxAgeSeconds, httpOnly: true })
  headers.cookie('csrftoken', csrfToken, { maxAgeSeconds })
  if (isRemembered) await keepOnDevice(accounts, proof, browser)
}

/** Whoever has shown their password here may come back with their PIN, if they have one. */
export async function keepOnDevice(accounts: Accounts, proof: Proof, { request, headers }: Browser): Promise<void> {
  const kept = await accounts.keepOnDevice(proof.account.id, request.headers['cookie'], proof)
  if (kept) headers.cookie('device', kept.device, { maxAgeSeconds: kept.maxAgeSeconds, httpOnly: true })
}
