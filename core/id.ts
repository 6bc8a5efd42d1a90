/** The form of ids, as they stand in paths of the API, in names of files and in the index (contract 1.1). */

export const ID_PATTERN = '^[A-Za-z0-9_-]{1,128}$'
/** Rows of the ledger go by numbers: as much of them as a double holds. */
export const ROW_PATTERN = '^[1-9][0-9]{0,14}$'
const ID = new RegExp(ID_PATTERN)

export const isId = (text: string): boolean => ID.test(text)

/** Whose file this is, of those that are named by an id: `aB3.mp4` is that of `aB3`. @param ending  `.mp4` */
export function idInName(name: string, ending: string): string | undefined {
  const id = name.endsWith(ending) ? name.slice(0, -ending.length) : ''
  return isId(id) ? id : undefined
}
