/** Further forms of ids: those of rows, and ids in file names. */
import { isId } from '../../core/base/id.ts'

/** Ledger rows have numeric ids, limited to what a double represents exactly. */
export const ROW_PATTERN = '^[1-9][0-9]{0,14}$'

/** Digits, so that a PIN can be entered with a remote control. */
export const PIN_PATTERN = '^[0-9]{4,8}$'

/** The id in a file name: `aB3` for `aB3.mp4`. @param ending  `.mp4` */
export function idInName(name: string, ending: string): string | undefined {
  const id = name.endsWith(ending) ? name.slice(0, -ending.length) : ''
  return isId(id) ? id : undefined
}
