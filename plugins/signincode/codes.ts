/**
 * Sign-in codes in the ledger, so that a restart ends none. The screen stores a secret, of which the server stores only
 * the hash; people see the short code.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { epochSeconds, type Proof } from 'archivolt'
import type { App } from './app.ts'
import { tooManyCodes } from './limits.ts'

export const signInCodeTable = {
  number: 1,
  sql: `
-- Times in epoch seconds. user_id: the account that was chosen; 0: refused. signed: ends with that account's password.
CREATE TABLE signincode_waiting (
  hash TEXT PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  agent TEXT NOT NULL,
  address TEXT NOT NULL,
  user_id INTEGER,
  signed TEXT,
  approved_by INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX signincode_by_age ON signincode_waiting (created_at);
`,
}

export const CODE_SECONDS = 600
/** Only consonants (RFC 8628, 6.1): none looks like a digit, and they form no words. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 6
const MOST_WAITING = 1000
const LONGEST_AGENT = 500

interface Row {
  hash: string
  code: string
  created_at: number
  agent: string
  address: string
  user_id: number | null
  signed: string | null
  approved_by: number | null
}

export interface Waiting {
  agent: string
  address: string
  /** Epoch seconds. */
  createdAt: number
  expiresAt: number
}

/** `waiting`: nobody has answered; `expired`: also unknown, or already used. */
export type Outcome = { state: 'waiting' | 'refused' | 'expired' } | Approved

interface Approved {
  state: 'approved'
  proof: Proof
  by: number
  /** The session ends with the account's PIN. */
  isByPin: boolean
}

export interface SignInCodes {
  /** @returns the secret that the screen stores, and the code that it shows. @throws throttled: too many codes wait */
  request(from: { agent: string | undefined; address: string }): Promise<{ secret: string; code: string }>
  /**
   * The screen that shows this code; undefined: the code is wrong, expired or answered. @param typed  the code as a
   * person typed it
   */
  find(typed: string): Waiting | undefined
  /**
   * @param by       the approving account
   * @param isByPin  it has proved its right with the PIN of the chosen account
   * @returns false: the code was answered or has expired meanwhile
   */
  approve(typed: string, userId: number, by: number, isByPin: boolean): Promise<boolean>
  /** @returns false: the code was answered or has expired meanwhile */
  refuse(typed: string): Promise<boolean>
  /** The outcome of the code. An answer is returned only once. */
  redeem(secret: string): Promise<Outcome>
}

export function openSignInCodes({ ledger, clock, accounts }: Pick<App, 'ledger' | 'clock' | 'accounts'>): SignInCodes {
  const since = () => epochSeconds(clock) - CODE_SECONDS
  const select = ledger.sql<Row>('SELECT * FROM signincode_waiting WHERE hash = ? AND created_at > ?')
  const selectWaiting = ledger.sql<Row>(
    'SELECT * FROM signincode_waiting WHERE code = ? AND user_id IS NULL AND created_at > ?',
  )
  const count = ledger.sql<{ waiting: number }>('SELECT count(*) AS waiting FROM signincode_waiting')
  const insert = ledger.sql(
    'INSERT INTO signincode_waiting (hash, code, created_at, agent, address) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  )
  const answer = ledger.sql(
    'UPDATE signincode_waiting SET user_id = ?, signed = ?, approved_by = ? WHERE code = ? AND user_id IS NULL AND created_at > ?',
  )
  const take = ledger.sql<Row>('DELETE FROM signincode_waiting WHERE hash = ? RETURNING *')
  const deleteOld = ledger.sql('DELETE FROM signincode_waiting WHERE created_at <= ?')

  const proofOf = ({ hash, user_id: id, signed }: Row): Pick<Approved, 'proof' | 'isByPin'> | undefined => {
    const account = accounts.get(id!)
    if (!account) return undefined
    const isByPin = signed === accounts.lastingLink(hash, account.id, true)
    const holds = () =>
      accounts.get(account.id)?.is_active === true && accounts.lastingLink(hash, account.id, isByPin) === signed
    return { proof: { account, holds }, isByPin }
  }
  const answerWith = (typed: string, userId: number, by: number | null, isByPin = false) =>
    ledger.write(() => {
      const code = lettersOf(typed)
      const row = selectWaiting.get(code, since())
      if (!row) return false
      const signed = userId === REFUSED ? null : accounts.lastingLink(row.hash, userId, isByPin)
      return answer.run(userId, signed, by, code, since()).changes === 1
    })

  return {
    request: ({ agent = '', address }) =>
      ledger.write(() => {
        deleteOld.run(since())
        if (count.get()!.waiting >= MOST_WAITING) throw tooManyCodes(CODE_SECONDS)
        const secret = randomBytes(32).toString('base64url')
        const row = [epochSeconds(clock), agent.slice(0, LONGEST_AGENT), address] as const
        let code = newCode()
        while (insert.run(hashOf(secret), code, ...row).changes === 0) code = newCode()
        return { secret, code }
      }),

    find(typed) {
      const row = selectWaiting.get(lettersOf(typed), since())
      if (!row) return undefined
      const { agent, address, created_at: createdAt } = row
      return { agent, address, createdAt, expiresAt: createdAt + CODE_SECONDS }
    },

    approve: answerWith,
    refuse: (typed) => answerWith(typed, REFUSED, null),

    async redeem(secret) {
      const hash = hashOf(secret)
      const found = select.get(hash, since())
      if (!found) return { state: 'expired' }
      if (found.user_id === null) return { state: 'waiting' }
      const row = await ledger.write(() => take.get(hash))
      if (!row) return { state: 'expired' }
      if (row.user_id === REFUSED) return { state: 'refused' }
      const approval = proofOf(row)
      return approval?.proof.holds() ? { state: 'approved', ...approval, by: row.approved_by! } : { state: 'expired' }
    },
  }
}

/** Stored instead of an account if the code was refused. */
const REFUSED = 0

const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url')
const newCode = (): string => Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
/** Ignores case and hyphens. */
const lettersOf = (typed: string): string => typed.replaceAll('-', '').toUpperCase()
/** The form in which people read a code aloud: `BCD-FGH`. */
export const spaced = (code: string): string => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`
