/** Makes the hashing of passwords almost free in tests. Only the built program uses the real cost. */
import type { CredentialsParts } from '../../core/accounts/credentials.ts'
import { openAccounts } from '../../plugins/user/accounts/accounts.ts'
import type { PasswordCost } from '../../plugins/user/accounts/passwords.ts'

export const PASSWORD_COST: PasswordCost = { log2N: 4, r: 1, p: 1 }

/** The plugin `user`'s credentials with another cost. */
export const cheapCredentials = { open: (parts: CredentialsParts) => openAccounts(parts, PASSWORD_COST) }
