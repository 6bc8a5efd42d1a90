/** Sends long lists of ids in parts, one after the other. */

/** The maximum number of ids in one request (contract B). */
const AT_ONCE = 100

export async function inPieces<Id>(ids: readonly Id[], send: (ids: Id[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) await send(ids.slice(at, at + AT_ONCE))
}
