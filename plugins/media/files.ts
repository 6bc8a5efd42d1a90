/** Whether files are there, where a disk may not answer. */
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errors, say } from 'archivolt'

/** Whether an error of the file system has one of these codes. */
export const isOneOf = (thrown: unknown, ...codes: string[]): boolean =>
  codes.includes(String((thrown as NodeJS.ErrnoException | null)?.code))

/**
 * A disk that does not answer is no disk without files: every error but "there is no such thing" is thrown.
 * @returns undefined: not there
 * @throws conflict: a link leads to itself
 */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (thrown) {
    if (isOneOf(thrown, 'ENOENT', 'ENOTDIR')) return undefined
    if (isOneOf(thrown, 'ELOOP'))
      throw errors.conflict(
        say`A link in the library leads to itself: ${{ folder: basename(dirname(path)) }}, or ${{ name: basename(path) }} in it. Remove it`,
        { cause: thrown },
      )
    throw thrown
  }
}
