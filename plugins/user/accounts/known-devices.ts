/** The devices on which an account has signed in, so that it can be notified of a new one. */
import { type Clock, epochSeconds, errors, isoTime, type Ledger } from 'archivolt'
import type { ClientName } from './client-name.ts'

const MOST_OF_ACCOUNT = 100

/** The client of a sign-in. */
export interface Origin extends ClientName {
  address: string
}

/** A sign-in on a device where the account had not signed in before. */
export interface NewSignIn extends Origin {
  id: number
  at: string
}

interface Row extends Origin {
  id: number
  first_at: number
}

/** `device` is the stored hash of a device's id. */
export function openKnownDevices({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
  const now = () => epochSeconds(clock)
  const selectAny = ledger.sql('SELECT 1 FROM known_devices WHERE user_id = ? LIMIT 1')
  const update = ledger.sql('UPDATE known_devices SET seen_at = ? WHERE user_id = ? AND device = ?')
  const insert = ledger.sql(
    'INSERT INTO known_devices (user_id, device, browser, system, address, first_at, seen_at, is_new) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const deleteOldest = ledger.sql(
    'DELETE FROM known_devices WHERE id IN (SELECT id FROM known_devices WHERE user_id = ? ORDER BY seen_at DESC, id DESC LIMIT -1 OFFSET ?)',
  )
  const selectNew = ledger.sql<Row>(
    "SELECT id, browser, system, address, first_at FROM known_devices WHERE user_id = ? AND is_new = 1 AND device <> coalesce(?, '') ORDER BY id DESC",
  )
  const markSeen = ledger.sql(
    "UPDATE known_devices SET is_new = 0 WHERE user_id = ? AND id = ? AND is_new = 1 AND device <> coalesce(?, '')",
  )
  return {
    /**
     * Records a sign-in. Call inside a write.
     * @returns whether the account had signed in before, but never on this device
     */
    note(userId: number, device: string, { browser, system, address }: Origin): boolean {
      if (update.run(now(), userId, device).changes === 1) return false
      const isNew = selectAny.get(userId) !== undefined
      insert.run(userId, device, browser, system, address, now(), now(), isNew ? 1 : 0)
      deleteOldest.run(userId, MOST_OF_ACCOUNT)
      return isNew
    },
    /**
     * Sign-ins that the account has not seen yet. @param own  the requesting device, whose own sign-in is not listed
     */
    unseen: (userId: number, own: string | undefined): NewSignIn[] =>
      selectNew.all(userId, own ?? null).map(({ id, browser, system, address, first_at }) => ({
        ...{ id, browser, system, address },
        at: isoTime(first_at),
      })),
    /** Call inside a write. @throws not_found */
    see(userId: number, id: number, own: string | undefined): void {
      if (markSeen.run(userId, id, own ?? null).changes === 0) throw errors.notFound('sign-in')
    },
  }
}
