/** Lists, adds, changes and removes accounts, including the first admin of a new installation. */
import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import {
  type AccountRecord,
  type AccountRights,
  type Accounts,
  errors,
  type FirstAccount,
  say,
  tellSecurity,
  writeWhole,
} from 'archivolt'
import { areAlike, mixesScripts } from './names.ts'
import { refuseOutdated } from './proof.ts'
import { type Book, clearCache, recordOf, write } from './state.ts'
import type { AccountChange } from './types.ts'
import type { UserRow } from './user-rows.ts'

const FIRST_ID = 1

type Changes = Pick<
  Accounts,
  | 'list'
  | 'get'
  | 'firstAdmin'
  | 'create'
  | 'change'
  | 'setGroups'
  | 'regroup'
  | 'isGroup'
  | 'namesGroup'
  | 'viewOf'
  | 'dropFromViews'
  | 'remove'
  | 'isUnused'
  | 'setRules'
>

export const changesOf = (book: Book): Changes => {
  const { log, users, views, passwords } = book
  const shown = (row: UserRow | undefined) => row && recordOf(book, row)
  return {
    list: () => users.all().map((row) => recordOf(book, row)),
    get: (id) => shown(users.get(id)),
    firstAdmin: () => shown(users.firstAdmin()),

    async create({ username, password, isStaff, mayDownload = false, view = null }, alongside) {
      refuseIllTogether({ is_staff: isStaff, may_download: mayDownload, view })
      if (mixesScripts(username))
        throw errors.badRequest('This name mixes letters of different scripts; use only one script', {
          fields: { username: 'mixes letters of different scripts' },
        })
      refuseAlike(book, username)
      const hash = await passwords.hash(password)
      const added = await write(book, () => {
        refuseAlike(book, username)
        const id = users.add({ username, password: hash, isStaff, mayDownload })
        views.set(id, view)
        alongside?.(id)
        return recordOf(book, users.existing(id))
      })
      tellSecurity(log, 'account_added', { account: added.id, ...rightsOf(added) })
      return added
    },

    async change(id, asked, { keepSession, proof } = {}) {
      users.existing(id)
      const password = asked.password === undefined ? undefined : await passwords.hash(asked.password)
      const pin = typeof asked.pin === 'string' ? await passwords.hash(asked.pin) : asked.pin
      let before!: AccountRecord
      const record = await write(book, () => {
        refuseOutdated(proof)
        before = recordOf(book, users.existing(id))
        // Read the row again: it may have changed while the password was hashed.
        writeChange(book, users.existing(id), { ...asked, password, pin }, keepSession)
        return recordOf(book, users.existing(id))
      })
      tellChange(book, before, record, asked)
      if (password) await forgetFirstPassword(book, id)
      return record
    },

    setGroups(of) {
      views.setGroups(of)
      clearCache(book)
    },

    regroup() {
      views.regroup()
      clearCache(book)
    },

    isGroup: views.isGroup,
    namesGroup: views.namesGroup,

    viewOf(id) {
      const view = views.parse(users.existing(id).view)
      return view ? views.whole(view) : undefined
    },

    dropFromViews: (kind, id) => write(book, () => views.drop(kind, id)),

    async remove(id) {
      await write(book, () => {
        refuseLastAdmin(book, users.existing(id))
        users.remove(id)
      })
      tellSecurity(log, 'account_removed', { account: id })
      await forgetFirstPassword(book, id)
    },

    isUnused: () => isUnused(book),

    setRules(rules) {
      Object.assign(book.rules, rules)
      clearCache(book)
    },
  }
}

function tellChange({ log }: Book, before: AccountRecord, after: AccountRecord, asked: AccountChange): void {
  const account = after.id
  const rights = rightsOf(after)
  if (JSON.stringify(rightsOf(before)) !== JSON.stringify(rights))
    tellSecurity(log, 'role_changed', { account, ...rights })
  if (asked.password !== undefined) tellSecurity(log, 'password_changed', { account })
  if (asked.pin !== undefined) tellSecurity(log, 'pin_changed', { account })
  if (before.has_totp && !after.has_totp) tellSecurity(log, 'second_factor_off', { account })
}

const rightsOf = ({ is_staff, is_active, may_download, view }: AccountRecord) => ({
  ...{ is_staff, is_active, may_download },
  has_view: view !== null,
})

/** @param hashed  the requested changes, with password and PIN as hashes */
function writeChange(
  book: Book,
  row: UserRow,
  hashed: Omit<AccountChange, 'password' | 'pin'> & { password: string | undefined; pin: string | null | undefined },
  keepSession: string | undefined,
): void {
  const { users, views, totp, devices, sessions } = book
  const { id } = row
  const after = {
    is_staff: hashed.is_staff ?? row.is_staff === 1,
    is_active: hashed.is_active ?? row.is_active === 1,
    may_download: hashed.may_download ?? row.may_download === 1,
    view: hashed.view === undefined ? views.parse(row.view) : hashed.view,
  }
  refuseIllTogether(after)
  if (!after.is_staff || !after.is_active) refuseLastAdmin(book, row)
  users.change(id, hashed.password ?? row.password, after)
  if (hashed.view !== undefined) views.set(id, hashed.view)
  if (hashed.pin !== undefined) users.setPin(id, hashed.pin)
  if (hashed.totp === null) totp.remove(id)
  if (hashed.password || hashed.pin === null || !after.is_active) devices.forgetAll(id)
  if (hashed.password) {
    book.tokens.revoke(id)
    book.accessTokens.revokeAll(id)
  }
  const isOtherRole = after.is_staff !== (row.is_staff === 1)
  if (!after.is_active) sessions.endAll(id)
  else if (hashed.password || hashed.totp === null || isOtherRole) sessions.endAll(id, keepSession)
}

/** Creates the first admin if there is no account. Core calls it at each start. */
export async function ensureFirst(
  book: Book,
  { username, password }: { username: string; password: string | null },
): Promise<FirstAccount> {
  const { users, firstPassword } = book
  const [first] = users.all()
  if (first)
    return { isNew: false, username: first.username, ...(isUnused(book) && { passwordFile: firstPassword.file }) }
  const made = password === null ? randomBytes(15).toString('base64url') : undefined
  // Write the file first: an account with an unknown password would be worse than a file without its account.
  if (made) await writeWhole(firstPassword.file, `${made}\n`)
  firstPassword.isThere = made !== undefined
  const hash = await book.passwords.hash(password ?? made!)
  await write(book, () => book.tokens.make(users.add({ username, password: hash, isStaff: true, mayDownload: false })))
  return { isNew: true, username, ...(made && { password: made, passwordFile: firstPassword.file }) }
}

const isUnused = ({ firstPassword, users }: Book): boolean => firstPassword.isThere && !users.hasAnySignedIn()

async function forgetFirstPassword({ firstPassword }: Book, id: number): Promise<void> {
  if (id !== FIRST_ID) return
  firstPassword.isThere = false
  await rm(firstPassword.file, { force: true })
}

/** @throws conflict  people could confuse this name with an existing one */
function refuseAlike({ users }: Book, username: string): void {
  if (users.named(username)) throw errors.conflict('This name is taken')
  const isAlike = areAlike(username)
  const other = users.all().find((row) => isAlike(row.username))
  if (other) throw errors.conflict(say`This name looks like ${{ name: other.username }}, which is taken`)
}

function refuseLastAdmin({ users }: Book, row: UserRow): void {
  if (row.is_staff && row.is_active && !users.hasOtherAdmin(row.id))
    throw errors.conflict('This is the last active admin; make another account an admin first')
}

/** An account with a view could not see the effects of its changes. */
function refuseIllTogether({ is_staff, may_download, view }: AccountRights): void {
  if (!view || (!is_staff && !may_download)) return
  const word = is_staff ? 'is_staff' : 'may_download'
  throw errors.badRequest(
    say`An account with a view cannot have ${{ word }} too: send view null, or ${{ word }} false`,
    {
      fields: { [word]: 'must be false for an account with a view' },
    },
  )
}
