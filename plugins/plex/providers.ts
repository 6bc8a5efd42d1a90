/**
 * The address of each account's metadata provider. The secret part is not stored: each address is signed when it is
 * shown.
 */
import { epochSeconds, errors } from 'archivolt'
import type { App } from './app.ts'

export function openProviders({ ledger, accounts, clock }: Pick<App, 'ledger' | 'accounts' | 'clock'>) {
  const selectOfUser = ledger.sql<{ id: number }>('SELECT id FROM plex_provider WHERE user_id = ?')
  const insert = ledger.sql('INSERT INTO plex_provider (user_id, created_at) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = ledger.sql('DELETE FROM plex_provider WHERE user_id = ?')

  /** The address without a trailing slash. @param base  with a trailing slash */
  const addressOf = (id: number, userId: number, base: string): string =>
    base.replace(/\/$/, '') + accounts.lastingLink(`/plex/${id}`, userId)

  return {
    addressOf,

    /** undefined: the account has no address */
    ofUser: (userId: number): number | undefined => selectOfUser.get(userId)?.id,

    /** @throws not_found: the address was deleted, or belongs to another account */
    mustBe(id: number, userId: number): void {
      if (selectOfUser.get(userId)?.id !== id) throw errors.notFound('metadata provider')
    },

    /** Returns the existing address, if there is one. */
    make: (userId: number): Promise<number> =>
      ledger.write(() => {
        insert.run(userId, epochSeconds(clock))
        return selectOfUser.get(userId)!.id
      }),

    /** Deletes the address; a new one will be different. @throws not_found */
    async end(userId: number): Promise<void> {
      const { changes } = await ledger.write(() => remove.run(userId))
      if (changes === 0) throw errors.notFound('metadata provider')
    },
  }
}

export type Providers = ReturnType<typeof openProviders>
