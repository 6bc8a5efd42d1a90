/** The shelves of Home that the history fills, for one account. */
import type { Actor } from 'archivolt'
import type { App } from './app.ts'

export async function shelvesFor({ view, isAdmin }: Actor, { history, videos }: App): Promise<string[]> {
  // The rows cover the whole archive; the index returns only the part that the account sees.
  const isAnyLost = view ? (await videos.collection.count({ exists: 'lost_date' }, 1)) > 0 : history.losses.isAny()
  return [...(isAnyLost ? ['lost'] : []), ...(isAdmin && history.rescues.isAny() ? ['rescue'] : [])]
}
