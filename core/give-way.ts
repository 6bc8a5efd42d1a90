/** Child processes give way to the server: its answers are what people wait for. */
import { constants, setPriority } from 'node:os'

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority

/**
 * To be called right after the start, so that all that the child starts gives way too.
 * @param child     one that could not be started, or has ended, is passed over
 * @param isBehind  nobody waits for its work: it gives way to other children as well
 */
export function giveWay({ pid }: { readonly pid?: number | undefined }, isBehind = false): void {
  if (pid === undefined) return
  try {
    setPriority(pid, isBehind ? PRIORITY_LOW : PRIORITY_BELOW_NORMAL)
  } catch {} // it has ended already
}
