/**
 * Shared devices: the accounts that have signed in on a device with their password, and may now use their PIN there.
 */

import { type Clock, DAY_SECONDS, epochSeconds, type Ledger, type Signing } from 'archivolt'
import { parseCookie } from 'cookie'

/** Maximum number of wrong PINs of an account on a device; after that the password is required. */
const ALLOWED_PINS = 5
const REMEMBERED_SECONDS = 365 * DAY_SECONDS
const MOST_ACCOUNTS_OF_DEVICE = 20
const MOST_DEVICES_OF_ACCOUNT = 100
const COOKIE = 'device'

export interface DeviceCookie {
  device: string
  maxAgeSeconds: number
}

/** `cookies` is the `Cookie` header of a request. */
export function openDevices({ ledger, clock, signing }: { ledger: Ledger; clock: Clock; signing: Signing }) {
  const now = () => epochSeconds(clock)
  const since = () => now() - REMEMBERED_SECONDS

  const selectAccounts = ledger.sql<{ user_id: number }>(
    'SELECT user_id FROM device_accounts WHERE device = ? AND attempts < ? AND used_at > ? ORDER BY user_id',
  )
  const selectOne = ledger.sql('SELECT 1 FROM device_accounts WHERE device = ? AND user_id = ? AND used_at > ?')
  const upsert = ledger.sql(
    'INSERT INTO device_accounts (device, user_id, used_at) VALUES (?, ?, ?) ON CONFLICT (device, user_id) DO UPDATE SET used_at = excluded.used_at, attempts = 0',
  )
  const count = ledger.sql(
    'UPDATE device_accounts SET attempts = attempts + 1 WHERE device = ? AND user_id = ? AND attempts < ? AND used_at > ?',
  )
  const reset = ledger.sql('UPDATE device_accounts SET attempts = 0, used_at = ? WHERE device = ? AND user_id = ?')
  const deleteOne = ledger.sql('DELETE FROM device_accounts WHERE device = ? AND user_id = ?')
  const deleteAll = ledger.sql('DELETE FROM device_accounts WHERE user_id = ? AND device <> ?')
  const deleteOld = ledger.sql('DELETE FROM device_accounts WHERE used_at <= ?')
  const deleteBeyond = (of: 'device' | 'user_id', other: 'device' | 'user_id') =>
    ledger.sql(
      `DELETE FROM device_accounts WHERE ${of} = ? AND ${other} IN (SELECT ${other} FROM device_accounts WHERE ${of} = ? ORDER BY used_at DESC LIMIT -1 OFFSET ?)`,
    )
  const deleteOldestAccounts = deleteBeyond('device', 'user_id')
  const deleteOldestDevices = deleteBeyond('user_id', 'device')

  const idOf = (cookies: string | undefined) => {
    const cookie = cookies === undefined ? undefined : parseCookie(cookies)[COOKIE]
    return cookie === undefined ? undefined : signing.readId('device', cookie)
  }

  return {
    /** The device of this request: the stored hash of its id. */
    of: (cookies: string | undefined) => idOf(cookies)?.hash,

    /** The device of this request; a new id if it has none. */
    identify(cookies: string | undefined): DeviceCookie & { hash: string } {
      const { hash, cookie } = idOf(cookies) ?? signing.makeId('device')
      return { hash, device: cookie, maxAgeSeconds: REMEMBERED_SECONDS }
    },

    /** Lets the account use its PIN on this device. Call inside a write. */
    add(hash: string, userId: number): void {
      deleteOld.run(since())
      upsert.run(hash, userId, now())
      deleteOldestAccounts.run(hash, hash, MOST_ACCOUNTS_OF_DEVICE)
      deleteOldestDevices.run(userId, userId, MOST_DEVICES_OF_ACCOUNT)
    },

    accountsOf: (device: string) => selectAccounts.all(device, ALLOWED_PINS, since()).map(({ user_id }) => user_id),
    knows: (device: string, userId: number) => selectOne.get(device, userId, since()) !== undefined,
    /**
     * Counts an attempt before the check, so that neither a crash nor parallel attempts allow more. Call inside a
     * write.
     */
    attempt: (device: string, userId: number) => count.run(device, userId, ALLOWED_PINS, since()).changes === 1,
    /** Resets the attempts after a correct PIN. Call inside a write. */
    succeed: (device: string, userId: number) => void reset.run(now(), device, userId),
    /** Call inside a write. */
    forget: (device: string, userId: number) => void deleteOne.run(device, userId),
    /** Removes the account from all devices, or from all except one. Call inside a write. */
    forgetAll: (userId: number, keep = '') => void deleteAll.run(userId, keep),
  }
}
