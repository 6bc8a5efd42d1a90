/** Links between accounts here and at the provider: by issuer and subject, never by a name, which people can choose. */
import { randomBytes } from 'node:crypto'
import type { AccountRecord, Proof } from 'archivolt'
import { errors, isAppError } from 'archivolt'
import type { App } from './app.ts'
import type { Identity } from './provider.ts'

export const linkTable = {
  number: 1,
  sql: `CREATE TABLE oidc_link (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user_id INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID`,
}

/** Why a person known to the provider is refused; the page has the sentences. */
type Refusal = 'unknown' | 'group' | 'off' | 'name' | 'taken' | 'other'

export class Refused extends Error {
  readonly reason: Refusal
  constructor(reason: Refusal) {
    super(`refused: ${reason}`)
    this.reason = reason
  }
}

export type Links = ReturnType<typeof openLinks>

export function openLinks(app: Omit<App, 'oidc'>) {
  const { ledger, accounts, settings, log, signIns } = app
  const issuer = settings.oidcIssuer ?? ''
  const idOf = (subject: string): number | undefined =>
    ledger
      .sql<{ user_id: number }>('SELECT user_id FROM oidc_link WHERE issuer = ? AND subject = ?')
      .get(issuer, subject)?.user_id
  const add = (subject: string, userId: number): void =>
    void ledger
      .sql('INSERT OR REPLACE INTO oidc_link (issuer, subject, user_id) VALUES (?, ?, ?)')
      .run(issuer, subject, userId)
  const isIn = (groups: readonly string[], allowed: readonly string[]): boolean =>
    groups.some((group) => allowed.includes(group))

  const proofOf = (account: AccountRecord, subject: string): Proof => ({
    account,
    holds: () => idOf(subject) === account.id && accounts.get(account.id)?.is_active === true,
  })

  async function make({ subject, name, groups }: Identity): Promise<AccountRecord> {
    if (!settings.oidcCreate) throw new Refused('unknown')
    if (name === undefined || !signIns.isName(name)) throw new Refused('name')
    // A random password: an admin can set one later.
    const password = randomBytes(48).toString('base64url')
    const isStaff = isIn(groups, settings.oidcAdmins)
    const mayDownload = isIn(groups, settings.oidcDownloaders)
    try {
      return await accounts.create({ username: name, password, isStaff, mayDownload }, (id) => add(subject, id))
    } catch (error) {
      // An account with that name, or a similar one, may belong to somebody else, so linking it requires its password.
      if (isAppError(error, 'conflict')) throw new Refused('taken')
      if (isAppError(error, 'bad_request')) throw new Refused('name')
      throw error
    }
  }

  /** Applies the current groups. An impossible change (removing the last admin) is skipped and logged. */
  async function withRights(account: AccountRecord, { groups }: Identity): Promise<AccountRecord> {
    const wanted = {
      ...(settings.oidcAdmins.length > 0 && { is_staff: isIn(groups, settings.oidcAdmins) }),
      ...(settings.oidcDownloaders.length > 0 && { may_download: isIn(groups, settings.oidcDownloaders) }),
    }
    const isAdmin = wanted.is_staff ?? account.is_staff
    const isSame =
      isAdmin === account.is_staff &&
      (isAdmin || (wanted.may_download ?? account.may_download) === account.may_download)
    if (isSame) return account
    try {
      return await accounts.change(account.id, wanted)
    } catch (error) {
      log.warn({ err: error, account: account.id }, 'the rights from the provider could not be applied')
      return account
    }
  }

  return {
    /** The linked account, created if configured, with the rights of its groups. @throws Refused */
    async accountOf(identity: Identity): Promise<Proof> {
      if (settings.oidcUsers.length > 0 && !isIn(identity.groups, settings.oidcUsers)) throw new Refused('group')
      const id = idOf(identity.subject)
      const account = (id === undefined ? undefined : accounts.get(id)) ?? (await make(identity))
      if (!account.is_active) throw new Refused('off')
      return proofOf(await withRights(account, identity), identity.subject)
    },

    /** Links this person to this account. @throws Refused: linked to another one */
    connect: (userId: number, { subject }: Identity): Promise<void> =>
      ledger.write(() => {
        const other = idOf(subject)
        if (other !== undefined && other !== userId) throw new Refused('other')
        if (!accounts.get(userId)) throw errors.notFound('user')
        forget(userId)
        add(subject, userId)
      }),

    isConnected: (userId: number): boolean =>
      ledger.sql('SELECT 1 FROM oidc_link WHERE issuer = ? AND user_id = ?').get(issuer, userId) !== undefined,

    disconnect: (userId: number): Promise<void> => ledger.write(() => forget(userId)),
  }

  function forget(userId: number): void {
    ledger.sql('DELETE FROM oidc_link WHERE user_id = ?').run(userId)
  }
}
