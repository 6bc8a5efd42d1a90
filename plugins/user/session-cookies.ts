/**
 * The cookies of a browser: its session, and the id of a device on which a PIN is sufficient. How long they last:
 * `accounts/sessions.ts`, `accounts/devices.ts`.
 */
import { type Accounts, errors, type Proof, type RouteInput, type SignInFrom } from 'archivolt'

export interface Browser {
  request: Pick<RouteInput<never, never, never>['request'], 'headers' | 'address'>
  headers: RouteInput<never, never, never>['headers']
}

/** Prevents another site's page from signing its visitor in to an attacker's account. */
export function refuseOtherSites({ isCrossSite }: { isCrossSite: boolean }): void {
  if (isCrossSite) throw errors.crossSite()
}

export const fromOf = ({ headers, address }: Browser['request'], way: SignInFrom['way']): SignInFrom => ({
  ...{ address, agent: headers['user-agent'], cookies: headers['cookie'], way },
})

export async function startSession(
  accounts: Accounts,
  { proof, isRemembered, way }: { proof: Proof; isRemembered: boolean; way: SignInFrom['way'] },
  { request, headers }: Browser,
): Promise<void> {
  const from = fromOf(request, way)
  const { sessionId, csrfToken, maxAgeSeconds, device } = await accounts.openSession(
    ...([proof.account.id, isRemembered, proof, from] as const),
  )
  headers.cookie('sessionid', sessionId, { maxAgeSeconds, httpOnly: true })
  headers.cookie('csrftoken', csrfToken, { maxAgeSeconds })
  if (device) setDeviceCookie(headers, device)
}

/** After a sign-in with the password, remembers that the account's PIN is sufficient on this device. */
export async function keepOnDevice(accounts: Accounts, proof: Proof, { request, headers }: Browser): Promise<void> {
  const cookie = await accounts.keepOnDevice(proof.account.id, request.headers['cookie'], proof)
  if (cookie) setDeviceCookie(headers, cookie)
}

const setDeviceCookie = (
  headers: Browser['headers'],
  { device, maxAgeSeconds }: { device: string; maxAgeSeconds: number },
) => headers.cookie('device', device, { maxAgeSeconds, httpOnly: true })
