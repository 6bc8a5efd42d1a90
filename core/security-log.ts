/** Logs security events in one form: sign-ins, refusals, changes of rights, tokens, restores. */
import { openAsyncContext } from './base/async-context.ts'
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
  /** The asking account; 0: not signed in. */
  by: number
}

/** `account`: the id of the account concerned. No secrets. */
type Facts = { account?: number | undefined } & Partial<Asker> & Record<string, unknown>

const asking = openAsyncContext<Asker>()

/** Makes security events during `work` name the asker. For requests that change something. */
export const askedBy = <Result>(asker: Asker, work: () => Promise<Result>): Promise<Result> =>
  asking.during(asker, work)

/** Writes one line with `security`: the event's name. Without an asker, it came from a command or the server itself. */
export function tellSecurity(log: Pick<Log, 'info'>, event: SecurityEvent, facts: Facts): void {
  log.info({ security: event, ...asking.get(), ...facts }, 'a security event')
}
