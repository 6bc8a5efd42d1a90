/** The sessions of accounts, and the devices that know them. */
import { type Accounts, clientOf, tellSecurity } from 'archivolt'
import { clientNameOf } from './client-name.ts'
import { refuseOutdated } from './proof.ts'
import { type AccountsState, activeAccount, write } from './state.ts'
import { sha256 } from './tokens.ts'

type SignedIn = Pick<
  Accounts,
  | ('openSession' | 'noteProgram' | 'endSession' | 'sessions' | 'endNamedSession' | 'endOtherSessions')
  | ('proveSession' | 'isProvenLately' | 'newSignIns' | 'seeSignIn' | 'link' | 'lastingLink')
  | ('onDevice' | 'keepOnDevice' | 'forgetOnDevice')
>

export const signedInOf = (state: AccountsState): SignedIn => {
  const { ledger, log, users, devices, sessions, knownDevices, links, lastingLinks } = state
  const deviceOf = (session: string | undefined) => session && sessions.deviceOf(session)
  return {
    async openSession(id, isRemembered, proof, from) {
      if (!from)
        return write(state, () => {
          users.existing(id)
          refuseOutdated(proof)
          users.noteLogin(id)
          return sessions.open(id, isRemembered)
        })
      const { address, way } = from
      const { opened, isNew } = await write(state, () => {
        const { pin } = users.existing(id)
        refuseOutdated(proof)
        users.noteLogin(id)
        const { hash: device, ...cookie } = devices.identify(from.cookies)
        const origin = { ...clientNameOf(from.agent), address }
        const isNew = knownDevices.note(id, device, origin)
        if (isRemembered && pin !== null) devices.add(device, id)
        return { opened: { ...sessions.open(id, isRemembered, { ...origin, way, device }), device: cookie }, isNew }
      })
      if (isNew) tellSecurity(log, 'new_device', { account: id, address, at: way })
      return opened
    },

    async noteProgram(id, { address, agent }) {
      // A program has no cookie: it is identified by its name and address.
      const device = sha256(`program:${clientOf(address)}:${agent ?? ''}`)
      const isNew = await ledger.write(() => knownDevices.note(id, device, { ...clientNameOf(agent), address }))
      if (isNew) tellSecurity(log, 'new_device', { account: id, address, at: 'token' })
    },

    async endSession(session) {
      const account = sessions.holder(session)
      await write(state, () => sessions.end(session))
      tellSecurity(log, 'sign_out', { account })
    },

    sessions: sessions.list,

    async endNamedSession(id, session) {
      await write(state, () => {
        const device = sessions.endNamed(id, session)
        if (device !== null) devices.forget(device, id)
      })
      tellSecurity(log, 'sign_out', { account: id, session })
    },

    async endOtherSessions(id, keep) {
      await write(state, () => {
        devices.forgetAll(id, deviceOf(keep))
        sessions.endAll(id, keep)
      })
      tellSecurity(log, 'sign_out', { account: id, session: 'others' })
    },

    proveSession(session, proof) {
      refuseOutdated(proof)
      sessions.prove(session)
    },
    isProvenLately: sessions.isProvenLately,

    newSignIns: (id, session) => knownDevices.unseen(id, deviceOf(session)),
    seeSignIn: (id, signIn, session) => ledger.write(() => knownDevices.see(id, signIn, deviceOf(session))),

    link: links.sign,
    lastingLink: (path, id, untilPin) => `${path}/${lastingLinks.sign(path, users.existing(id), untilPin)}`,

    onDevice(cookies) {
      const device = devices.of(cookies)
      if (device === undefined) return []
      return devices.accountsOf(device).flatMap((id) => activeAccount(state, id) ?? [])
    },

    keepOnDevice: (id, cookies, proof) =>
      ledger.write(() => {
        refuseOutdated(proof)
        if (users.existing(id).pin === null) return undefined
        const { hash, ...cookie } = devices.identify(cookies)
        devices.add(hash, id)
        return cookie
      }),

    async forgetOnDevice(id, cookies) {
      const device = devices.of(cookies)
      if (device !== undefined) await ledger.write(() => devices.forget(device, id))
    },
  }
}
