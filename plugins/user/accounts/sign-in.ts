/** Checks sign-ins: with a password and a code, or with a PIN on a device that knows the account. */
import { type Accounts, clientOf, errors, tellSecurity } from 'archivolt'
import { proofOf, proofOfPin } from './proof.ts'
import { type AccountsState, recordOf } from './state.ts'
import type { UserRow } from './user-rows.ts'

export const signInsOf = (
  state: AccountsState,
): Pick<Accounts, 'checkPassword' | 'checkOwnPassword' | 'checkPin' | 'checkAdminPin'> => {
  const { ledger, log, users, devices, passwords, throttle } = state
  return {
    checkPassword(username, password, address, signal, code) {
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(username, asker, async () => {
        const row = users.named(username)
        const isRight = await passwords.isRight(password, row?.password, asker)
        if (!row || !isRight || !row.is_active) {
          tellSecurity(log, 'sign_in_refused', { account: row?.id, address })
          return undefined
        }
        // Read before the code is checked: if an authenticator app is enabled meanwhile, the proof is outdated.
        const proof = proofOf(state, row)
        if (!(await takeCode(state, row, code))) {
          tellSecurity(log, 'sign_in_refused', { account: row.id, address, at: 'code' })
          return undefined
        }
        await ledger.write(() => users.noteLogin(row.id))
        tellSecurity(log, 'sign_in', { account: row.id, address })
        return proof
      })
    },

    async checkOwnPassword(id, password, address, signal) {
      const row = users.existing(id)
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(row.username, asker, async () => {
        if (await passwords.isRight(password, row.password, asker)) return proofOf(state, row)
        tellSecurity(log, 'sign_in_refused', { account: id, address, at: 'own password' })
        return undefined
      })
    },

    async checkPin(id, pin, { cookies, address, signal }) {
      const device = devices.of(cookies)
      const row = users.get(id)
      if (!row || device === undefined || !devices.accountsOf(device).includes(id)) throw notOnDevice()
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(row.username, asker, async () => {
        const known = await attemptPin(state, row, device)
        if (!(await passwords.isRight(pin, known.pin!, asker))) {
          tellSecurity(log, 'sign_in_refused', { account: id, address, at: 'pin' })
          return undefined
        }
        await ledger.write(() => {
          devices.succeed(device, id)
          users.noteLogin(id)
        })
        tellSecurity(log, 'sign_in', { account: id, address, by: id, at: 'pin' })
        return proofOfPin(state, known, device)
      })
    },

    async checkAdminPin(askedBy, pin, { address, signal, count }) {
      const asker = { address: clientOf(address), signal }
      return throttle.attempt(users.existing(askedBy).username, asker, async () => {
        await count()
        const admins = users.all().filter((row) => row.is_staff && row.is_active && row.pin !== null)
        for (const row of admins.slice(0, MOST_ADMINS)) {
          if (await passwords.isRight(pin, row.pin!, asker)) return recordOf(state, row)
        }
        tellSecurity(log, 'sign_in_refused', { account: askedBy, address, at: "an admin's pin" })
        return undefined
      })
    },
  }
}

/** Maximum number of admins whose PINs are compared, because each comparison computes a hash. */
const MOST_ADMINS = 10

/** Counts the attempt in the ledger, for all addresses together. */
async function attemptPin({ ledger, users, devices }: AccountsState, row: UserRow, device: string): Promise<UserRow> {
  const known = await ledger.write(() => {
    const now = users.get(row.id)
    return now?.is_active && now.pin !== null && devices.attempt(device, row.id) ? now : undefined
  })
  if (!known) throw notOnDevice()
  return known
}

/** @throws bad_request  the code is missing: this neither counts as a failure nor resets earlier ones */
async function takeCode({ ledger, totp }: AccountsState, row: UserRow, code: string | undefined): Promise<boolean> {
  if (!totp.state(row.id).isOn) return true
  if (code === undefined) throw codeRequired()
  return ledger.write(() => totp.take(row.id, code))
}

const CODE_REQUIRED =
  'This account also needs a code from its authenticator app. An app that cannot send a code needs a token instead: create one in Settings → Account'

const codeRequired = () =>
  errors.badRequest(CODE_REQUIRED, {
    fields: { code: 'is required' },
    extra: { code_required: true, non_field_errors: [CODE_REQUIRED] },
  })

const notOnDevice = () =>
  errors.badRequest(
    'Sign in with the password: a PIN is accepted only on devices where its account has signed in before',
  )
