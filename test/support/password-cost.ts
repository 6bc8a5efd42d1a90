/** What hashing a password costs in tests: next to nothing. The real cost is that of the built program. */
import type { PasswordCost } from '../../core/accounts/passwords.ts'

export const PASSWORD_COST: PasswordCost = { log2N: 4, r: 1, p: 1 }
