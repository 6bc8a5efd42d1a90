/** Security events: who signs in, who is refused, what accounts may do, tokens, restores. One form of line for all. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log } from './log.ts'

export type SecurityEvent =
  | 'sign_in'
  | 'sign_in_refused'
  | 'sign_out'
  | 'new_device'
  | 'request_refused'
  | 'account_added'
  | 'account_removed'
  | 'role_changed'
  | 'password_changed'
  | 'pin_changed'
  | 'second_factor_on'
  | 'second_factor_off'
  | 'token_made'
  | 'token_revoked'
  | 'settings_changed'
  | 'restore'

interface Asker {
  address: string
  /** The account that asks; 0: nobody has signed in. */
  by: number
}

/** `account`: the id of whose it is about. No secrets. */
type Facts = { account?: number | undefined } & Partial<Asker> & Record<string, unknown>

const asking = new AsyncLocalStorage<Asker>()
let running = 0

/** Security events of `work` name who asked for it. For requests that change something. */
export async function askedBy<Result>(asker: Asker, work: () => Promise<Result>): Promise<Result> {
  running++
  try {
    return await asking.run(asker, work)
  } finally {
    // While enabled, it makes Node track every promise of the process.
    if (--running === 0) asking.disable()
  }
}

/** Writes one line with `security`: the event's name. Without an asker the command line or the server itself did it. */
export function tellSecurity(log: Pick<Log, 'info'>, event: SecurityEvent, facts: Facts): void {
  log.info({ security: event, ...asking.getStore(), ...facts }, 'a security event')
}
