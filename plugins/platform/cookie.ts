/** What can be told of a cookie jar (Netscape text) without asking the platform. */

/** Without these nobody is signed in; a renewed jar that has lost one of them is not worth keeping. */
const SESSION_COOKIES = new Set(['SID', 'HSID', 'SSID', 'SAPISID', 'LOGIN_INFO', '__Secure-1PSID', '__Secure-3PSID'])

function sessionCookies(jar: string): Set<string> {
  const names = new Set<string>()
  for (const line of jar.split('\n')) {
    const [, , , , , name, value] = line.replace(/\r$/, '').split('\t')
    if (name !== undefined && value && SESSION_COOKIES.has(name)) names.add(name)
  }
  return names
}

/** Whether the renewed jar still has every session cookie that the one before had. */
export function isStillSignedIn(before: string, renewed: string): boolean {
  const kept = sessionCookies(renewed)
  const had = [...sessionCookies(before)]
  return had.length > 0 && had.every((name) => kept.has(name))
}
