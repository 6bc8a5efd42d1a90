/** Codes of an authenticator app (TOTP, RFC 6238) as a second factor, and recovery codes, each valid once. */
import { randomBytes } from 'node:crypto'
import { type Clock, epochSeconds, errors, type Ledger } from 'archivolt'
import { Secret, TOTP } from 'otpauth'
import { sha256 } from './tokens.ts'

/** The name of the sealed column. */
const TOTP_SECRET = 'totp.secret'
const PERIOD_SECONDS = 30
/** Maximum error of a phone's clock, in steps, in either direction. */
const WINDOW = 1
const SECRET_BYTES = 20
const RECOVERY_CODES = 10
/** 80 bits, in letters that cannot be confused when written down; long enough for a hash without salt. */
const RECOVERY_BYTES = 10
const ISSUER = 'Archivolt'
const CODE = /^\d{6}$/
const UNREADABLE =
  'Codes of this authenticator app cannot be checked, because the secret key of this server has changed. Use a recovery code, or let an admin turn the app off: Settings → Users, or `archivolt user totp-off <name>` on the server'
const RECOVERY_CODE = /^[A-Z2-7]{16}$/

export interface TotpState {
  isOn: boolean
  /** Number of unused recovery codes. */
  recoveryCodes: number
}

interface Row {
  /** Sealed. */
  secret: string
  enabled_at: number | null
  last_step: number
}

export function openTotp({ ledger, clock }: { ledger: Ledger; clock: Clock }) {
  const select = ledger.sql<Row>('SELECT secret, enabled_at, last_step FROM totp WHERE user_id = ?')
  const upsert = ledger.sql(
    'INSERT INTO totp (user_id, secret) VALUES (?, ?) ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0 WHERE enabled_at IS NULL',
  )
  const updateEnabled = ledger.sql('UPDATE totp SET enabled_at = ? WHERE user_id = ?')
  const updateStep = ledger.sql('UPDATE totp SET last_step = ? WHERE user_id = ? AND last_step < ?')
  const deleteOne = ledger.sql('DELETE FROM totp WHERE user_id = ?')
  const insertRecovery = ledger.sql('INSERT INTO recovery_codes (user_id, hash) VALUES (?, ?)')
  const deleteRecovery = ledger.sql('DELETE FROM recovery_codes WHERE user_id = ? AND hash = ?')
  const countRecovery = ledger.sql<{ left: number }>('SELECT count(*) AS left FROM recovery_codes WHERE user_id = ?')

  /** Inside a write: of two simultaneous uses of a code, only one succeeds. */
  function takeCode(userId: number, sealed: string, code: string): boolean {
    const secret = ledger.unseal(TOTP_SECRET, sealed)
    if (secret === undefined) throw errors.conflict(UNREADABLE)
    const timestamp = clock.now()
    const delta = TOTP.validate({
      token: code,
      secret: Secret.fromBase32(secret),
      period: PERIOD_SECONDS,
      timestamp,
      window: WINDOW,
    })
    if (delta === null) return false
    const step = Math.floor(timestamp / 1000 / PERIOD_SECONDS) + delta
    return updateStep.run(step, userId, step).changes === 1
  }

  return {
    state(userId: number): TotpState {
      const isOn = typeof select.get(userId)?.enabled_at === 'number'
      return { isOn, recoveryCodes: isOn ? countRecovery.get(userId)!.left : 0 }
    },

    /** Makes a new secret, which takes effect after a code of it was entered. Call inside a write. */
    begin(userId: number, username: string): { secret: string; uri: string } {
      const secret = new Secret({ size: SECRET_BYTES })
      upsert.run(userId, ledger.seal(TOTP_SECRET, secret.base32))
      const uri = new TOTP({ issuer: ISSUER, label: username, secret, period: PERIOD_SECONDS }).toString()
      return { secret: secret.base32, uri }
    },

    /** Returns the new recovery codes; undefined: the code is wrong, or no setup was begun. Call inside a write. */
    enable(userId: number, code: string): string[] | undefined {
      const row = select.get(userId)
      if (!row || row.enabled_at !== null || !CODE.test(code) || !takeCode(userId, row.secret, code)) return undefined
      updateEnabled.run(epochSeconds(clock), userId)
      return Array.from({ length: RECOVERY_CODES }, () => {
        const recovery = new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer }).base32
        insertRecovery.run(userId, sha256(recovery))
        return recovery.match(/.{4}/g)!.join('-')
      })
    },

    /**
     * Accepts a code, or a recovery code, which cannot be used again. Call inside a write.
     * @throws conflict: the secret was sealed with another secret key; recovery codes still work
     */
    take(userId: number, code: string): boolean {
      const row = select.get(userId)
      if (!row) return false
      const plain = code.replace(/[\s-]/g, '').toUpperCase()
      if (CODE.test(plain)) return takeCode(userId, row.secret, plain)
      return RECOVERY_CODE.test(plain) && deleteRecovery.run(userId, sha256(plain)).changes === 1
    },

    /** Call inside a write. */
    remove: (userId: number) => void deleteOne.run(userId),
  }
}
