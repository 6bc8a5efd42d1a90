/** Checks the text of a Netscape cookie jar, and normalizes it for the downloader. */
import { errors, say } from 'archivolt'

const HEADER = '# Netscape HTTP Cookie File'
const HTTP_ONLY = '#HttpOnly_'
const MOST_COOKIES = 3000
const LONGEST_LINE = 16_384
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/
const COMMENT = /^#(?!HttpOnly_)/i
const FLAG = /^(?:TRUE|FALSE)$/i
/** Expiry times; some exports write `-1` for the end of the session. */
const EXPIRY = /^(?:-?\d+(?:\.\d+)?)?$/

/**
 * Keeps the cookies and drops comments. Error messages never contain the text, which is as secret as a password.
 * @param platformName  the name for people
 * @throws bad_request: the text is not a jar, or contains no cookie
 */
export function parseJar(text: string, platformName: string): string {
  const cookies: string[] = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (line.trim() === '' || COMMENT.test(line)) continue
    if (cookies.length === 0 && /^\s*[[{]/.test(line))
      throw errors.badRequest('This is JSON: choose the Netscape format (cookies.txt) in the export')
    cookies.push(cookieOf(line, index + 1))
    if (cookies.length > MOST_COOKIES)
      throw errors.badRequest(
        say`A cookie jar may have at most ${{ most: MOST_COOKIES }} cookies: export only those of ${{ platformName }}`,
      )
  }
  if (cookies.length === 0) throw errors.badRequest('The text contains no cookie')
  return `${HEADER}\n${cookies.join('\n')}\n`
}

/**
 * A cookie in the downloader's form: flags in capitals, and the second field consistent with the leading dot of the
 * domain. Exports differ in both.
 */
function cookieOf(line: string, number: number): string {
  const isHttpOnly = line.startsWith('#')
  const fields = line.slice(isHttpOnly ? HTTP_ONLY.length : 0).split('\t')
  const [domain = '', hasSubdomains = '', path = '', secure = '', expiry = '', name, value] = fields
  if (line.length > LONGEST_LINE || CONTROL.test(line) || fields.length !== 7 || !/^[^\s#]\S*$/.test(domain))
    throw errors.badRequest(
      say`Line ${{ line: number }} isn’t in Netscape format (seven tab-separated fields). Use a “cookies.txt” exporter`,
    )
  if (!FLAG.test(hasSubdomains) || !FLAG.test(secure))
    throw errors.badRequest(say`Line ${{ line: number }}: the second and the fourth field must be TRUE or FALSE`)
  if (!path.startsWith('/'))
    throw errors.badRequest(say`Line ${{ line: number }}: the third field must be a path that begins with /`)
  if (!EXPIRY.test(expiry))
    throw errors.badRequest(say`Line ${{ line: number }}: the fifth field must be a time in seconds, or 0`)
  const mended = [
    domain,
    domain.startsWith('.') ? 'TRUE' : 'FALSE',
    path,
    secure.toUpperCase(),
    expiry.startsWith('-') ? '0' : expiry,
    name,
    value,
  ]
  return `${isHttpOnly ? HTTP_ONLY : ''}${mended.join('\t')}`
}
