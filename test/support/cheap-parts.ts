/** Parts of built-in plugins that tests make cheap: the built program hashes passwords for long and retries patiently. */
import type { CredentialsParts } from '../../core/accounts/credentials.ts'
import type { Plugin } from '../../core/plugin/define.ts'
import { openPlatform, type PlatformParts } from '../../plugins/platform/platform.ts'
import platform from '../../plugins/platform/plugin.ts'
import { openAccounts } from '../../plugins/user/accounts/accounts.ts'
import type { PasswordCost } from '../../plugins/user/accounts/passwords.ts'

export const PASSWORD_COST: PasswordCost = { log2N: 4, r: 1, p: 1 }
/** Tests have no platform unless they start one: with the built program's pauses, each request would fail only after 15 s. */
const PACE = { retryPause: 0.01, socketTimeout: 20 }

/** As the plugin `user` brings it, but for the cost. */
export const cheapCredentials = { open: (parts: CredentialsParts) => openAccounts(parts, PASSWORD_COST) }

/** What replaces parts of a built-in plugin; a test's own plugin of the same name remains as it is. */
export function cheapPartsOf({ name, services }: Plugin): Partial<Plugin> | undefined {
  if (name === 'user') return { credentials: cheapCredentials }
  if (services !== platform.services) return undefined
  const paced = (app: object) => Object.assign(Object.create(app), { pace: PACE }) as PlatformParts
  return { services: (app) => ({ platform: openPlatform(paced(app)) }) }
}
