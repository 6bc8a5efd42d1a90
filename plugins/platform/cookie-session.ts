/** Reads a cookie jar (Netscape text) without asking the platform. */
import { createHash } from 'node:crypto'

/** The cookies needed to be signed in; a renewed jar that has lost one of them is not stored. */
const SESSION_COOKIES = new Set(['SID', 'HSID', 'SSID', 'SAPISID', 'LOGIN_INFO', '__Secure-1PSID', '__Secure-3PSID'])

/** Cookies that stay the same during a session, best first. */
const LASTING = ['SAPISID', 'SID', 'LOGIN_INFO']

/** Name → value. */
function sessionCookies(jar: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of jar.split('\n')) {
    const [, , , , , name, value] = line.replace(/\r$/, '').split('\t')
    if (name !== undefined && value && SESSION_COOKIES.has(name)) found.set(name, value)
  }
  return found
}

/** An opaque id of the session. */
export function sessionOf(jar: string): string {
  const cookies = sessionCookies(jar)
  const lasting = LASTING.map((name) => cookies.get(name)).find((value) => value !== undefined)
  return createHash('sha256')
    .update(lasting ?? jar)
    .digest('hex')
    .slice(0, 16)
}

/** Whether the renewed jar still has every session cookie that the one before had. */
export function isStillSignedIn(before: string, renewed: string): boolean {
  const now = sessionCookies(renewed)
  const had = [...sessionCookies(before).keys()]
  return had.length > 0 && had.every((name) => now.has(name))
}
