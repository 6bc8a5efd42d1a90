/** What hashing a password costs in tests: next to nothing. The real cost is that of the built program. */
import type { CredentialsParts } from '../../core/accounts/credentials.ts'
import { openAccounts } from '../../plugins/user/accounts/accounts.ts'
import type { PasswordCost } from '../../plugins/user/accounts/passwords.ts'

export const PASSWORD_COST: PasswordCost = { log2N: 4, r: 1, p: 1 }

/** As the plugin `user` brings it, but for the cost. */
export const cheapCredentials = { open: (parts: CredentialsParts) => openAccounts(parts, PASSWORD_COST) }
