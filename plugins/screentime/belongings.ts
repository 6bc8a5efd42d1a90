/** Daily limits in the record of the archive, by the names of accounts. */
import { type ArchiveBelongings, faultIn, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import { Minutes } from './routes.ts'

const Stored = Type.Record(Type.String(), Minutes)

export function archiveBelongings({ accounts, screenTime }: App): ArchiveBelongings {
  return {
    of: 'screentime',
    rows: [{ table: 'screentime_limit', id: () => "'archive'" }],
    needsAccounts: true,
    collect: () =>
      Object.fromEntries(
        screenTime.limits().map(({ user_id, minutes }) => [accounts.get(user_id)!.username, minutes]),
      ) satisfies Static<typeof Stored>,
    async restore(stored) {
      if (faultIn(Stored, stored) !== undefined) return
      const limits = new Map(Object.entries(stored as Static<typeof Stored>))
      for (const { id, username, view } of accounts.list()) {
        const minutes = limits.get(username)
        if (minutes !== undefined && view && !screenTime.of(id)) await screenTime.limit(id, minutes)
      }
    },
  }
}
