/** A correct password or PIN, verified again right before it is relied on, because it may have changed meanwhile. */
import { errors, type Proof } from 'archivolt'
import { type AccountsState, recordOf } from './state.ts'
import type { UserRow } from './user-rows.ts'

const proofWhile = (state: AccountsState, row: UserRow, isSame: (now: UserRow) => boolean): Proof => ({
  account: recordOf(state, row),
  holds() {
    const now = state.users.get(row.id)
    return now?.is_active === 1 && isSame(now)
  },
})

/** A password that was sufficient when it was checked no longer is if a second factor has been enabled since. */
export function proofOf(state: AccountsState, row: UserRow): Proof {
  const { isOn } = state.totp.state(row.id)
  return proofWhile(state, row, ({ id, password }) => password === row.password && state.totp.state(id).isOn === isOn)
}

export const proofOfPin = (state: AccountsState, row: UserRow, device: string): Proof =>
  proofWhile(state, row, ({ pin }) => pin === row.pin && state.devices.knows(device, row.id))

/** Call inside the write that relies on the proof. @throws bad_request */
export function refuseOutdated(proof: Proof | undefined): void {
  if (proof && !proof.holds())
    throw errors.badRequest('The password or PIN was changed in the meantime; sign in with the new one')
}
