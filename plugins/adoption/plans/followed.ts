/** Stores which places are followed, and the result of their last scans. */
import type { App } from 'archivolt'

export const openFollowed = ({ ledger }: Pick<App, 'ledger'>) => ({
  has: (placeId: number): boolean =>
    ledger.sql('SELECT 1 FROM library_followed WHERE place_id = ?').get(placeId) !== undefined,
  isAny: (): boolean => ledger.sql('SELECT 1 FROM library_followed LIMIT 1').get() !== undefined,
  set: (placeId: number, isFollowed: boolean): Promise<void> =>
    ledger.write(
      () =>
        void ledger
          .sql(
            isFollowed
              ? 'INSERT OR IGNORE INTO library_followed VALUES (?)'
              : 'DELETE FROM library_followed WHERE place_id = ?',
          )
          .run(placeId),
    ),
})

const SEEN_FOR_MS = 24 * 3_600_000

/** Remembers digests of followed places, so that unchanged places are not scanned again. */
export function openSeen({ clock }: Pick<App, 'clock'>) {
  const seen = new Map<number, { news: string; atMs: number }>()
  /** Whether the digest is unchanged. It expires, because a known video may have been removed since. */
  function isStill(placeId: number, news: string): boolean {
    const last = seen.get(placeId)
    return last?.news === news && clock.steady() - last.atMs < SEEN_FOR_MS
  }
  return {
    isStill,
    set(placeId: number, news: string): void {
      if (!isStill(placeId, news)) seen.set(placeId, { news, atMs: clock.steady() })
    },
  }
}
