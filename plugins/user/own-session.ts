/** All that a client has to know of who asks, at once. */
import { defineRoute, Type } from 'archivolt'
import { Account } from './account-routes.ts'
import { OwnPreferences } from './user-preferences.ts'

export const showSession = defineRoute({
  method: 'GET',
  path: '/api/session/',
  access: 'viewer',
  summary: 'Who asks, what they have chosen for themselves, and the version',
  reply: Type.Object({ version: Type.String(), account: Account, preferences: OwnPreferences }),
  handle: ({ actor: { id } }, { accounts, version }) => ({
    version: `v${version}`,
    account: accounts.get(id)!,
    preferences: { ...accounts.userPreferences(id), user_id: id },
  }),
})
