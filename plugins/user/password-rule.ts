/** The rule for a new password: long enough, and not a common one. Existing passwords stay valid. */
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type App, errors, inEnglish, say, type Words } from 'archivolt'

export const SHORTEST_PASSWORD = 12
/** Maximum length: enough for any passphrase, but it limits the work of hashing. */
export const LONGEST_PASSWORD = 1024
/** Minimum number of different characters: refuses `aaaaaaaaaaaa` and `121212121212`. */
const FEWEST_CHARACTERS = 5
/**
 * The 10,000 most frequent passwords of at least twelve characters, one per line, in lower case: from the list of ten
 * million passwords that Mark Burnett has published (public domain), in the order of SecLists (MIT).
 */
const COMMON = new URL('./common-passwords.txt.gz', import.meta.url)

const plain = (text: string): string => text.normalize('NFKC').toLowerCase()

/** A sentence about the fault of a password; undefined: none. @param username  name of the account */
async function faultOfPassword(password: string, username: string): Promise<Words | undefined> {
  if ([...password].length < SHORTEST_PASSWORD)
    return say`must have at least ${{ count: SHORTEST_PASSWORD }} characters`
  if (password.length > LONGEST_PASSWORD) return say`must have at most ${{ count: LONGEST_PASSWORD }} characters`
  const text = plain(password)
  if (new Set(text).size < FEWEST_CHARACTERS)
    return say`has only a few different characters; choose one that is harder to guess`
  const own = text.replaceAll(plain(username), '').replaceAll('archivolt', '')
  if (text !== own && !/\p{L}/u.test(own))
    return say`is too similar to a known name; choose one that is harder to guess`
  return (await isCommon(text)) ? say`is one of the most common passwords; choose another one` : undefined
}

/** Reads the list from disk each time, because it is rarely needed. */
async function isCommon(text: string): Promise<boolean> {
  const list = `\n${await promisify(gunzip)(await readFile(COMMON))}`.toString()
  return list.includes(`\n${text}\n`)
}

/** @throws bad_request with the fault */
export async function refuseWeak(password: string, username: string): Promise<void> {
  const fault = await faultOfPassword(password, username)
  if (fault !== undefined) throw errors.wrongField('password', fault)
}

/**
 * Logs a warning while the first admin has a weak `AV_PASSWORD`. It is accepted nevertheless, so that no start fails
 * and nobody is locked out.
 */
export async function warnOfWeak(
  password: string | null,
  { accounts, log }: Pick<App, 'accounts' | 'log'>,
): Promise<void> {
  const first = accounts.firstAdmin()
  const fault = password && first && (await faultOfPassword(password, first.username))
  if (!fault || !(await accounts.checkOwnPassword(first.id, password, ''))) return
  log.warn(
    { account: first.id },
    `The password that AV_PASSWORD gave ${first.username} ${inEnglish(fault)}: change it in Settings → Account`,
  )
}
