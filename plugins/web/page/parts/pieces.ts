/** Long lists of ids go to the server in pieces, one after the other. */

/** As many as one question may name (contract B). */
const AT_ONCE = 100

export async function inPieces(ids: readonly string[], send: (ids: string[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < ids.length; at += AT_ONCE) await send(ids.slice(at, at + AT_ONCE))
}
