/** The service `accounts`: its state is made here; each verb is a module over it. */
import { change, create, ensureFirst, isUnused, remove } from './change.ts'
import { addAccessToken, revokeAccessToken, revokeToken, token } from './issue.ts'
import { byLink, bySession, byToken } from './look-up.ts'
import { refuseOutdated } from './proof.ts'
import { beginTotp, disableTotp, enableTotp } from './second-factor.ts'
import {
  checkOwnPassword,
  checkPassword,
  checkPin,
  endNamedSession,
  endOtherSessions,
  endSession,
  forgetOnDevice,
  keepOnDevice,
  noteProgram,
  onDevice,
  openSession,
} from './sign-in.ts'
import { type AccountParts, forgetKept, newBook, recordOf, write } from './state.ts'
import type { AccountBook } from './types.ts'
import type { UserRow } from './user-rows.ts'

export function openAccounts(parts: AccountParts): AccountBook {
  const book = newBook(parts)
  const { users, views, preferences, pictures, accessTokens, totp, sessions, knownDevices, links } = book
  const shown = (row: UserRow | undefined) => row && recordOf(book, row)
  return {
    list: () => users.all().map((row) => recordOf(book, row)),
    get: (id) => shown(users.get(id)),
    firstAdmin: () => shown(users.firstAdmin()),
    create: (account, alongside) => create(book, account, alongside),
    change: (id, asked, by) => change(book, id, asked, by),
    dropFromViews: (kind, id) => write(book, () => views.drop(kind, id)),
    remove: (id) => remove(book, id),
    isUnused: () => isUnused(book),
    ensureFirst: (account) => ensureFirst(book, account),

    checkPassword: (username, password, address, signal, code) =>
      checkPassword(book, { username, password, code }, { address, signal }),
    checkOwnPassword: (id, password, address, signal) => checkOwnPassword(book, id, password, { address, signal }),
    checkPin: (id, pin, from) => checkPin(book, id, pin, from),
    openSession: (id, isRemembered, proof, from) => openSession(book, id, isRemembered, proof, from),
    noteProgram: (id, from) => noteProgram(book, id, from),
    endSession: (session) => endSession(book, session),
    sessions: (id, current) => sessions.list(id, current),
    endNamedSession: (id, session) => endNamedSession(book, id, session),
    endOtherSessions: (id, keep) => endOtherSessions(book, id, keep),
    proveSession(session, proof) {
      refuseOutdated(proof)
      sessions.prove(session)
    },
    isProvenLately: (session) => sessions.isProvenLately(session),
    newSignIns: (id, session) => knownDevices.unseen(id, session && sessions.deviceOf(session)),
    seeSignIn: (id, signIn, session) =>
      book.ledger.write(() => knownDevices.see(id, signIn, session && sessions.deviceOf(session))),
    setRules(rules) {
      book.rules = rules
      forgetKept(book)
    },
    adminsNeedSecondFactor: () => book.rules.adminsNeedSecondFactor,
    link: links.sign,
    onDevice: (cookies) => onDevice(book, cookies),
    keepOnDevice: (id, cookies, proof) => keepOnDevice(book, id, cookies, proof),
    forgetOnDevice: (id, cookies) => forgetOnDevice(book, id, cookies),

    token: (id, proof) => token(book, id, proof),
    revokeToken: (id) => revokeToken(book, id),
    accessTokens: (id) => accessTokens.list(id),
    addAccessToken: (id, asked) => addAccessToken(book, id, asked),
    revokeAccessToken: (id, tokenId) => revokeAccessToken(book, id, tokenId),
    totp: (id) => totp.state(id),
    beginTotp: (id, proof) => beginTotp(book, id, proof),
    enableTotp: (id, code, keepSession) => enableTotp(book, id, code, keepSession),
    disableTotp: (id, given, from) => disableTotp(book, id, given, from),

    picture: (id) => pictures.get(id),
    changePicture: (id, jpeg) =>
      write(book, () => {
        const row = users.existing(id)
        if (jpeg) pictures.set(id, jpeg)
        else pictures.remove(id)
        return recordOf(book, row)
      }),

    userPreferences: (id) => preferences.of(id),
    changeUserPreferences: (id, changes) =>
      write(book, () => {
        users.existing(id)
        return preferences.change(id, changes)
      }),

    watch: (listener) => void book.listeners.push(listener),
    byToken: (value) => byToken(book, value),
    bySession: (cookie) => bySession(book, cookie),
    byLink: (path, signed) => byLink(book, path, signed),
  }
}
