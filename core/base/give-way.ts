/** Lowers the priority of child processes, because people wait for the server's replies. */
import { constants, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority

/** Call it right after the start: children of the child inherit it. @param isBehind  gives way to other children too */
export function giveWay({ pid }: { readonly pid?: number | undefined }, isBehind = false): void {
  if (pid === undefined) return
  try {
    setPriority(pid, isBehind ? PRIORITY_LOW : PRIORITY_BELOW_NORMAL)
  } catch {} // it has ended already
}
