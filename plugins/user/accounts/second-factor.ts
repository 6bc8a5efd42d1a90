/** Sets up an account's authenticator app, verifies its codes, and turns it off. */
import { type Accounts, clientOf, errors, tellSecurity } from 'archivolt'
import { proofOf, refuseOutdated } from './proof.ts'
import { type AccountsState, write } from './state.ts'

const WRONG_CODE = 'Wrong or expired code: enter the one that the app shows now'

export const secondFactorOf = (
  state: AccountsState,
): Pick<Accounts, 'totp' | 'beginTotp' | 'enableTotp' | 'disableTotp'> => {
  const { log, users, totp, devices, sessions, passwords, throttle } = state
  return {
    totp: totp.state,

    beginTotp: (id, proof) =>
      write(state, () => {
        const { username } = users.existing(id)
        refuseOutdated(proof)
        if (totp.state(id).isOn)
          throw errors.conflict(
            'This account already has an authenticator app; turn it off before you set up another one',
          )
        return totp.begin(id, username)
      }),

    async enableTotp(id, code, keepSession) {
      const codes = await write(state, () => {
        users.existing(id)
        const recoveryCodes = totp.enable(id, code)
        if (!recoveryCodes) throw errors.badRequest(WRONG_CODE, { fields: { code: 'is wrong' } })
        devices.forgetAll(id)
        sessions.endAll(id, keepSession)
        return recoveryCodes
      })
      tellSecurity(log, 'second_factor_on', { account: id })
      return codes
    },

    async disableTotp(id, { password, code }, { address, signal, keepSession }) {
      const row = users.existing(id)
      const asker = { address: clientOf(address), signal }
      const isRight = await throttle.attempt(row.username, asker, async () => {
        if (!(await passwords.isRight(password, row.password, asker))) return undefined
        const isTaken = await write(
          state,
          () =>
            totp.take(id, code) &&
            proofOf(state, row).holds() &&
            (totp.remove(id), sessions.endAll(id, keepSession), true),
        )
        return isTaken || undefined
      })
      tellSecurity(log, isRight ? 'second_factor_off' : 'sign_in_refused', { account: id, address })
      return isRight === true
    },
  }
}
