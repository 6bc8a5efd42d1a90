/** Rewrites the text of a reply, of any type that a handler may return. */
import { JsonText, json, Listing, listing, type Reply } from 'archivolt'

/** Quotes in texts of a record are escaped, so `"key":` can only be a key. */
export function rewritten(reply: Reply, change: (text: string) => string): Reply {
  if (reply instanceof JsonText) return json(change(reply.text), reply.status)
  if (reply instanceof Listing) return listing(reply.texts.map(change), reply.total)
  return json(change(JSON.stringify(reply)))
}
