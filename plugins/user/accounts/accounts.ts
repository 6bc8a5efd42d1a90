/** Manages the accounts: answers core's questions about credentials, and gives plugins `app.accounts`. */
import type { Credentials, CredentialsParts } from 'archivolt'
import { changesOf, ensureFirst } from './change.ts'
import { tokensOf } from './issue.ts'
import { lookUpsOf } from './look-up.ts'
import { ownOf } from './own.ts'
import type { PasswordCost } from './passwords.ts'
import { secondFactorOf } from './second-factor.ts'
import { signInsOf } from './sign-in.ts'
import { signedInOf } from './signed-in.ts'
import { openAccountsState } from './state.ts'

/** @param cost  cost of new password hashes */
export function openAccounts(parts: CredentialsParts, cost?: PasswordCost): Credentials {
  const state = openAccountsState(parts, cost)
  return {
    ...lookUpsOf(state),
    ensureFirst: (account) => ensureFirst(state, account),
    watch: (listener) => void state.listeners.push(listener),
    accounts: {
      ...changesOf(state),
      ...signInsOf(state),
      ...signedInOf(state),
      ...tokensOf(state),
      ...secondFactorOf(state),
      ...ownOf(state),
    },
  }
}
