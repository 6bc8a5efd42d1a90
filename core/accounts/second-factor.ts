/** Sets up an account's authenticator app, asks for its codes, and turns it off. */
import { clientOf } from '../address.ts'
import { errors } from '../error.ts'
import { tellSecurity } from '../security-log.ts'
import { proofOf, refuseOutdated } from './proof.ts'
import { type Book, write } from './state.ts'
import type { Proof } from './types.ts'

const WRONG_CODE = 'Wrong or expired code: enter the one that the app shows now'

/** As `Accounts.beginTotp` says. */
export const beginTotp = (book: Book, id: number, proof: Proof): Promise<{ secret: string; uri: string }> =>
  write(book, () => {
    const { username } = book.users.existing(id)
    refuseOutdated(proof)
    if (book.totp.state(id).isOn)
      throw errors.conflict('This account has an authenticator app already; turn that off before another one')
    return book.totp.begin(id, username)
  })

/** As `Accounts.enableTotp` says. */
export async function enableTotp(
  book: Book,
  id: number,
  code: string,
  keepSession: string | undefined,
): Promise<string[]> {
  const codes = await write(book, () => {
    book.users.existing(id)
    const recoveryCodes = book.totp.enable(id, code)
    if (!recoveryCodes) throw errors.badRequest(WRONG_CODE, { fields: { code: 'is wrong' } })
    book.devices.forgetAll(id)
    book.sessions.endAll(id, keepSession)
    return recoveryCodes
  })
  tellSecurity(book.log, 'second_factor_on', { account: id })
  return codes
}

/** As `Accounts.disableTotp` says. */
export async function disableTotp(
  book: Book,
  id: number,
  { password, code }: { password: string; code: string },
  { address, signal, keepSession }: { address: string; signal?: AbortSignal; keepSession?: string | undefined },
): Promise<boolean> {
  const { users, totp, sessions, passwords, throttle } = book
  const row = users.existing(id)
  const asker = { address: clientOf(address), signal }
  const isRight = await throttle.attempt(row.username, asker, async () => {
    if (!(await passwords.isRight(password, row.password, asker))) return undefined
    const isTaken = await write(
      book,
      () =>
        totp.take(id, code) && proofOf(book, row).holds() && (totp.remove(id), sessions.endAll(id, keepSession), true),
    )
    return isTaken || undefined
  })
  tellSecurity(book.log, isRight ? 'second_factor_off' : 'sign_in_refused', { account: id, address })
  return isRight === true
}
