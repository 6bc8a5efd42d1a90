/** The form of ids in API paths, file names and the index (contract 1.1). */

export const ID_PATTERN = '^[A-Za-z0-9_-]{1,128}$'
/** Ledger rows have numeric ids, limited to what a double represents exactly. */
export const ROW_PATTERN = '^[1-9][0-9]{0,14}$'
const ID = new RegExp(ID_PATTERN)

export const isId = (text: string): boolean => ID.test(text)

/** The id in a file name: `aB3` for `aB3.mp4`. @param ending  `.mp4` */
export function idInName(name: string, ending: string): string | undefined {
  const id = name.endsWith(ending) ? name.slice(0, -ending.length) : ''
  return isId(id) ? id : undefined
}
