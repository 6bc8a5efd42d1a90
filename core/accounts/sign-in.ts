/** Signing in: by a password and a code, or by a PIN on a device that knows the account. */
import { clientOf } from '../address.ts'
import { errors } from '../error.ts'
import { tellSecurity } from '../security-log.ts'
import { clientNameOf } from './client-name.ts'
import type { DeviceCookie } from './devices.ts'
import { proofOf, proofOfPin, refuseOutdated } from './proof.ts'
import { activeAccount, type Book, write } from './state.ts'
import { sha256 } from './tokens.ts'
import type { AccountRecord, OpenedSession, Proof, SignInFrom } from './types.ts'
import type { UserRow } from './user-rows.ts'

/** As `Accounts.checkPassword` says. */
export async function checkPassword(
  book: Book,
  given: { username: string; password: string; code: string | undefined },
  { address, signal }: { address: string; signal: AbortSignal | undefined },
): Promise<Proof | undefined> {
  const { ledger, log, users, passwords, throttle } = book
  const asker = { address: clientOf(address), signal }
  return throttle.attempt(given.username, asker, async () => {
    const row = users.named(given.username)
    const isRight = await passwords.isRight(given.password, row?.password, asker)
    if (!row || !isRight || !row.is_active) {
      tellSecurity(log, 'sign_in_refused', { account: row?.id, address })
      return undefined
    }
    // Before its code is asked for: an authenticator app that is turned on meanwhile makes the proof outdated.
    const proof = proofOf(book, row)
    if (!(await takeCode(book, row, given.code))) {
      tellSecurity(log, 'sign_in_refused', { account: row.id, address, at: 'code' })
      return undefined
    }
    await ledger.write(() => users.noteLogin(row.id))
    tellSecurity(log, 'sign_in', { account: row.id, address })
    return proof
  })
}

/** As `Accounts.checkOwnPassword` says. */
export async function checkOwnPassword(
  book: Book,
  id: number,
  password: string,
  { address, signal }: { address: string; signal: AbortSignal | undefined },
): Promise<Proof | undefined> {
  const row = book.users.existing(id)
  const asker = { address: clientOf(address), signal }
  return book.throttle.attempt(row.username, asker, async () => {
    if (await book.passwords.isRight(password, row.password, asker)) return proofOf(book, row)
    tellSecurity(book.log, 'sign_in_refused', { account: id, address, at: 'own password' })
    return undefined
  })
}

/** As `Accounts.checkPin` says. */
export async function checkPin(
  book: Book,
  id: number,
  pin: string,
  { cookies, address, signal }: { cookies: string | undefined; address: string; signal?: AbortSignal },
): Promise<Proof | undefined> {
  const { ledger, log, users, devices, passwords, throttle } = book
  const device = devices.of(cookies)
  const row = users.get(id)
  if (!row || device === undefined || !devices.accountsOf(device).includes(id)) throw notOnDevice()
  const asker = { address: clientOf(address), signal }
  return throttle.attempt(row.username, asker, async () => {
    const known = await attemptPin(book, row, device)
    if (!(await passwords.isRight(pin, known.pin!, asker))) {
      tellSecurity(log, 'sign_in_refused', { account: id, address, at: 'pin' })
      return undefined
    }
    await ledger.write(() => {
      devices.succeed(device, id)
      users.noteLogin(id)
    })
    tellSecurity(log, 'sign_in', { account: id, address, by: id, at: 'pin' })
    return proofOfPin(book, known, device)
  })
}

/** Counted in the ledger, whatever the address. */
async function attemptPin({ ledger, users, devices }: Book, row: UserRow, device: string): Promise<UserRow> {
  const known = await ledger.write(() => {
    const now = users.get(row.id)
    return now?.is_active && now.pin !== null && devices.attempt(device, row.id) ? now : undefined
  })
  if (!known) throw notOnDevice()
  return known
}

/** @throws bad_request  it is missing: neither a failed attempt nor one that takes back those before it */
async function takeCode({ ledger, totp }: Book, row: UserRow, code: string | undefined): Promise<boolean> {
  if (!totp.state(row.id).isOn) return true
  if (code === undefined) throw codeRequired()
  return ledger.write(() => totp.take(row.id, code))
}

/** As `Accounts.openSession` says. */
export async function openSession(
  book: Book,
  id: number,
  isRemembered: boolean,
  proof?: Proof,
  from?: SignInFrom,
): Promise<OpenedSession> {
  const { users, devices, sessions, log } = book
  if (!from)
    return write(book, () => {
      users.existing(id)
      refuseOutdated(proof)
      users.noteLogin(id)
      return sessions.open(id, isRemembered)
    })
  const { address, way } = from
  const { opened, isNew } = await write(book, () => {
    const { pin } = users.existing(id)
    refuseOutdated(proof)
    users.noteLogin(id)
    const { hash: device, ...cookie } = devices.identify(from.cookies)
    const place = { ...clientNameOf(from.agent), address }
    const isNew = book.knownDevices.note(id, device, place)
    if (isRemembered && pin !== null) devices.add(device, id)
    return { opened: { ...sessions.open(id, isRemembered, { ...place, way, device }), device: cookie }, isNew }
  })
  if (isNew) tellSecurity(log, 'new_device', { account: id, address, at: way })
  return opened
}

/** As `Accounts.noteProgram` says. */
export async function noteProgram(book: Book, id: number, { address, agent }: SignInFrom): Promise<void> {
  // A program has no cookie: it is known by its name, and where it is.
  const device = sha256(`program:${clientOf(address)}:${agent ?? ''}`)
  const isNew = await book.ledger.write(() => book.knownDevices.note(id, device, { ...clientNameOf(agent), address }))
  if (isNew) tellSecurity(book.log, 'new_device', { account: id, address, at: 'token' })
}

/** As `Accounts.endSession` says. */
export async function endSession(book: Book, session: string): Promise<void> {
  const account = book.sessions.holder(session)
  await write(book, () => book.sessions.end(session))
  tellSecurity(book.log, 'sign_out', { account })
}

/** As `Accounts.endNamedSession` says. */
export async function endNamedSession(book: Book, id: number, session: string): Promise<void> {
  await write(book, () => {
    const device = book.sessions.endNamed(id, session)
    if (device !== null) book.devices.forget(device, id)
  })
  tellSecurity(book.log, 'sign_out', { account: id, session })
}

/** As `Accounts.endOtherSessions` says. */
export async function endOtherSessions(book: Book, id: number, keep: string | undefined): Promise<void> {
  await write(book, () => book.sessions.endAll(id, keep))
  tellSecurity(book.log, 'sign_out', { account: id, session: 'others' })
}

/** As `Accounts.onDevice` says. */
export function onDevice(book: Book, cookies: string | undefined): AccountRecord[] {
  const device = book.devices.of(cookies)
  if (device === undefined) return []
  return book.devices.accountsOf(device).flatMap((id) => activeAccount(book, id) ?? [])
}

/** As `Accounts.keepOnDevice` says. */
export const keepOnDevice = (
  { ledger, users, devices }: Book,
  id: number,
  cookies: string | undefined,
  proof: Proof,
): Promise<DeviceCookie | undefined> =>
  ledger.write(() => {
    refuseOutdated(proof)
    if (users.existing(id).pin === null) return undefined
    const { hash, ...cookie } = devices.identify(cookies)
    devices.add(hash, id)
    return cookie
  })

/** As `Accounts.forgetOnDevice` says. */
export async function forgetOnDevice(
  { ledger, devices }: Book,
  id: number,
  cookies: string | undefined,
): Promise<void> {
  const device = devices.of(cookies)
  if (device !== undefined) await ledger.write(() => devices.forget(device, id))
}

const CODE_REQUIRED =
  'This account signs in with a code of its authenticator app too. An app that has no place for the code needs a token instead: make one in Settings → Account'

const codeRequired = () =>
  errors.badRequest(CODE_REQUIRED, {
    fields: { code: 'is required' },
    extra: { code_required: true, non_field_errors: [CODE_REQUIRED] },
  })

const notOnDevice = () =>
  errors.badRequest('Sign in with the password: a PIN is only for devices where its account has signed in before')
