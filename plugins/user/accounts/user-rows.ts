/** The table of users. Methods that change rows are called inside `ledger.write`. */
import { type Clock, epochSeconds, errors, type Ledger } from 'archivolt'
import type { NewAccount } from './types.ts'

export interface UserRow {
  id: number
  username: string
  password: string
  is_staff: number
  is_active: number
  may_download: number
  view: string | null
  pin: string | null
  last_login: number | null
}

type UserRights = Record<'is_staff' | 'is_active' | 'may_download', boolean>

export function openUserRows({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
  const selectAll = ledger.sql<UserRow>('SELECT * FROM users ORDER BY id')
  const selectOne = ledger.sql<UserRow>('SELECT * FROM users WHERE id = ?')
  const selectFirstAdmin = ledger.sql<UserRow>('SELECT * FROM users WHERE is_staff = 1 ORDER BY id LIMIT 1')
  const selectNamed = ledger.sql<UserRow>('SELECT * FROM users WHERE username = ?')
  const countAdmins = ledger.sql<{ others: number }>(
    'SELECT count(*) AS others FROM users WHERE is_staff = 1 AND is_active = 1 AND id <> ?',
  )
  const countSignedIn = ledger.sql<{ ever: number }>('SELECT count(last_login) AS ever FROM users')
  const insert = ledger.sql(
    'INSERT INTO users (username, password, is_staff, may_download, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  const skipIds = ledger.sql("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'users'")
  const update = ledger.sql('UPDATE users SET password = ?, is_staff = ?, is_active = ?, may_download = ? WHERE id = ?')
  const updatePin = ledger.sql('UPDATE users SET pin = ? WHERE id = ?')
  const updateLogin = ledger.sql('UPDATE users SET last_login = ? WHERE id = ?')
  const deleteOne = ledger.sql('DELETE FROM users WHERE id = ?')

  return {
    all: () => selectAll.all(),
    get: (id: number) => selectOne.get(id),
    /** @throws not_found */
    existing(id: number): UserRow {
      const row = selectOne.get(id)
      if (!row) throw errors.notFound('user')
      return row
    },
    named: (username: string) => selectNamed.get(username),
    firstAdmin: () => selectFirstAdmin.get(),
    hasOtherAdmin: (id: number) => countAdmins.get(id)!.others > 0,
    hasAnySignedIn: () => countSignedIn.get()!.ever > 0,
    /** @returns its id */
    add({ username, password, isStaff, mayDownload }: Required<Omit<NewAccount, 'view'>>): number {
      const added = insert.run(username, password, bit(isStaff), bit(mayDownload), epochSeconds(clock))
      return Number(added.lastInsertRowid)
    },
    /**
     * After an older ledger was put back: accounts that it lacks may still be named elsewhere, so nobody else gets their
     * ids. No ledger has had more accounts than seconds have passed, so the present time is above all of them.
     */
    skipLostIds: () => void skipIds.run(epochSeconds(clock)),
    change: (id: number, password: string, rights: UserRights) =>
      void update.run(password, bit(rights.is_staff), bit(rights.is_active), bit(rights.may_download), id),
    setPin: (id: number, pin: string | null) => void updatePin.run(pin, id),
    /** Records a sign-in. */
    noteLogin: (id: number) => void updateLogin.run(epochSeconds(clock), id),
    remove: (id: number) => void deleteOne.run(id),
  }
}

const bit = (value: boolean): number => (value ? 1 : 0)
