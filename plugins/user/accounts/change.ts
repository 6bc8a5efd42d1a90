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
import { type AccountsState, clearCache, recordOf, write } from './state.ts'
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
  | 'skipLostIds'
  | 'isUnused'
  | 'setRules'
>

export const changesOf = (state: AccountsState): Changes => {
  const { log, users, views, passwords } = state
  const shown = (row: UserRow | undefined) => row && recordOf(state, row)
  return {
    list: () => users.all().map((row) => recordOf(state, row)),
    get: (id) => shown(users.get(id)),
    firstAdmin: () => shown(users.firstAdmin()),

    async create({ username, password, isStaff, mayDownload = false, view = null }, alongside) {
      refuseIllTogether({ is_staff: isStaff, may_download: mayDownload, view })
      if (mixesScripts(username))
        throw errors.badRequest('This name mixes letters of different scripts; use only one script', {
          fields: { username: 'mixes letters of different scripts' },
        })
      refuseAlike(state, username)
      const hash = await passwords.hash(password)
      const added = await write(state, () => {
        refuseAlike(state, username)
        const id = users.add({ username, password: hash, isStaff, mayDownload })
        views.set(id, view)
        alongside?.(id)
        return recordOf(state, users.existing(id))
      })
      tellSecurity(log, 'account_added', { account: added.id, ...rightsOf(added) })
      return added
    },

    async change(id, asked, { keepSession, proof } = {}) {
      users.existing(id)
      const password = asked.password === undefined ? undefined : await passwords.hash(asked.password)
      const pin = typeof asked.pin === 'string' ? await passwords.hash(asked.pin) : asked.pin
      let before!: AccountRecord
      const record = await write(state, () => {
        refuseOutdated(proof)
        before = recordOf(state, users.existing(id))
        // Read the row again: it may have changed while the password was hashed.
        writeChange(state, users.existing(id), { ...asked, password, pin }, keepSession)
        return recordOf(state, users.existing(id))
      })
      tellChange(state, before, record, asked)
      if (password) await forgetFirstPassword(state, id)
      return record
    },

    setGroups(of) {
      views.setGroups(of)
      clearCache(state)
    },

    regroup() {
      views.regroup()
      clearCache(state)
    },

    isGroup: views.isGroup,
    namesGroup: views.namesGroup,

    viewOf(id) {
      const view = views.parse(users.existing(id).view)
      return view ? views.whole(view) : undefined
    },

    dropFromViews: (kind, id) => write(state, () => views.drop(kind, id)),

    async remove(id) {
      await write(state, () => {
        refuseLastAdmin(state, users.existing(id))
        users.remove(id)
      })
      tellSecurity(log, 'account_removed', { account: id })
      await forgetFirstPassword(state, id)
    },

    skipLostIds: () => write(state, users.skipLostIds),

    isUnused: () => isUnused(state),

    setRules(rules) {
      Object.assign(state.rules, rules)
      clearCache(state)
    },
  }
}

function tellChange({ log }: AccountsState, before: AccountRecord, after: AccountRecord, asked: AccountChange): void {
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
  state: AccountsState,
  row: UserRow,
  hashed: Omit<AccountChange, 'password' | 'pin'> & { password: string | undefined; pin: string | null | undefined },
  keepSession: string | undefined,
): void {
  const { users, views, totp, devices, sessions } = state
  const { id } = row
  const after = {
    is_staff: hashed.is_staff ?? row.is_staff === 1,
    is_active: hashed.is_active ?? row.is_active === 1,
    may_download: hashed.may_download ?? row.may_download === 1,
    view: hashed.view === undefined ? views.parse(row.view) : hashed.view,
  }
  refuseIllTogether(after)
  if (!after.is_staff || !after.is_active) refuseLastAdmin(state, row)
  users.change(id, hashed.password ?? row.password, after)
  if (hashed.view !== undefined) views.set(id, hashed.view)
  if (hashed.pin !== undefined) users.setPin(id, hashed.pin)
  if (hashed.totp === null) totp.remove(id)
  if (hashed.password || hashed.pin === null || !after.is_active) devices.forgetAll(id)
  if (hashed.password) {
    state.tokens.revoke(id)
    state.accessTokens.revokeAll(id)
  }
  const isOtherRole = after.is_staff !== (row.is_staff === 1)
  if (!after.is_active) sessions.endAll(id)
  else if (hashed.password || hashed.totp === null || isOtherRole) sessions.endAll(id, keepSession)
  else if (hashed.pin !== undefined) sessions.endByPin(id, keepSession)
}

/** Creates the first admin if there is no account. Core calls it at each start. */
export async function ensureFirst(
  state: AccountsState,
  { username, password }: { username: string; password: string | null },
): Promise<FirstAccount> {
  const { users, firstPassword } = state
  const [first] = users.all()
  if (first)
    return { isNew: false, username: first.username, ...(isUnused(state) && { passwordFile: firstPassword.file }) }
  const made = password === null ? randomBytes(15).toString('base64url') : undefined
  // Write the file first: an account with an unknown password would be worse than a file without its account.
  if (made) await writeWhole(firstPassword.file, `${made}\n`)
  firstPassword.isThere = made !== undefined
  const hash = await state.passwords.hash(password ?? made!)
  await write(state, () =>
    state.tokens.make(users.add({ username, password: hash, isStaff: true, mayDownload: false })),
  )
  return { isNew: true, username, ...(made && { password: made, passwordFile: firstPassword.file }) }
}

const isUnused = ({ firstPassword, users }: AccountsState): boolean => firstPassword.isThere && !users.hasAnySignedIn()

async function forgetFirstPassword({ firstPassword }: AccountsState, id: number): Promise<void> {
  if (id !== FIRST_ID) return
  firstPassword.isThere = false
  await rm(firstPassword.file, { force: true })
}

/** @throws conflict  people could confuse this name with an existing one */
function refuseAlike({ users }: AccountsState, username: string): void {
  if (users.named(username)) throw errors.conflict('This name is taken')
  const isAlike = areAlike(username)
  const other = users.all().find((row) => isAlike(row.username))
  if (other) throw errors.conflict(say`This name looks like ${{ name: other.username }}, which is taken`)
}

function refuseLastAdmin({ users }: AccountsState, row: UserRow): void {
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
