/** Opens a file of unknown origin for reading, but never a pipe or a device, which might have no end. */
import { closeSync, constants, fstatSync, openSync, type Stats } from 'node:fs'

/**
 * @param flags  in addition to reading
 * @returns undefined: it is not a regular file
 * @throws errors of the disk
 */
export function withFile<Result>(
  path: string,
  read: (file: number, found: Stats) => Result,
  flags = 0,
): Result | undefined {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | flags)
  try {
    const found = fstatSync(file)
    return found.isFile() ? read(file, found) : undefined
  } finally {
    closeSync(file)
  }
}
