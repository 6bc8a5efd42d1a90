/** The text of a Netscape cookie jar: is it one, and in the form that the downloader reads. */
import { errors, say } from 'archivolt'

const HEADER = '# Netscape HTTP Cookie File'
const MOST_COOKIES = 3000
const LONGEST_LINE = 16_384
/** domain, subdomains too, path, secure, expiry (empty or 0: with the session), name, value */
const COOKIE = /^(#HttpOnly_)?[^\s#]\S*\t(TRUE|FALSE)\t\/[^\t]*\t(TRUE|FALSE)\t(-?\d+(\.\d+)?)?\t[^\t]*\t[^\t]*$/i
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/

/**
 * Keeps the cookies and drops comments. What the text holds is in no message: it is as good as a password.
 * @param platformName  for people
 * @throws bad_request  not a jar, or one without a cookie
 */
export function parseJar(text: string, platformName: string): string {
  const cookies: string[] = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || (line.startsWith('#') && !/^#HttpOnly_/i.test(line))) continue
    if (line.length > LONGEST_LINE || CONTROL.test(line) || !COOKIE.test(line)) {
      throw errors.badRequest(
        say`Line ${{ line: index + 1 }} is no cookie of a Netscape cookie jar: it needs seven fields with tabs between them`,
      )
    }
    cookies.push(line)
    if (cookies.length > MOST_COOKIES)
      throw errors.badRequest(
        say`A cookie jar may have at most ${{ most: MOST_COOKIES }} cookies: export only those of ${{ platformName }}`,
      )
  }
  if (cookies.length === 0) throw errors.badRequest('The text has no cookie in it')
  return `${HEADER}\n${cookies.join('\n')}\n`
}
