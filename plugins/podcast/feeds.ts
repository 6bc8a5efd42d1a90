/** The feeds of accounts, as rows of the ledger, and their addresses, each with its own token. */
import { createHash } from 'node:crypto'
import { epochSeconds, errors, say } from 'archivolt'
import type { App } from './app.ts'

export const KINDS = ['channel', 'playlist', 'group', 'search'] as const
export type Kind = (typeof KINDS)[number]

export interface Feed {
  id: number
  user_id: number
  kind: Kind
  target: string
  guid: string
  /** Epoch seconds. */
  created_at: number
}

const MOST_OF_USER = 500
/** The namespace of `podcast:guid`, from its specification. */
const GUIDS = Buffer.from('ead4c236bf5858c6a2c6a6b28d128cb6', 'hex')

export function openFeeds({ ledger, accounts, clock }: Pick<App, 'ledger' | 'accounts' | 'clock'>) {
  const selectOne = ledger.sql<Feed>('SELECT * FROM podcast_feed WHERE id = ?')
  const selectSame = ledger.sql<Feed>('SELECT * FROM podcast_feed WHERE user_id = ? AND kind = ? AND target = ?')
  const selectOfUser = ledger.sql<Feed>('SELECT * FROM podcast_feed WHERE user_id = ? ORDER BY id')
  const selectAll = ledger.sql<Feed>('SELECT * FROM podcast_feed ORDER BY id')
  const insert = ledger.sql('INSERT INTO podcast_feed (user_id, kind, target, guid, created_at) VALUES (?, ?, ?, ?, ?)')
  const setGuid = ledger.sql('UPDATE podcast_feed SET guid = ? WHERE id = ?')
  const selectTargets = ledger.sql<Feed>('SELECT * FROM podcast_feed WHERE kind = ? AND target = ? ORDER BY id')
  const insertAgain = ledger.sql(
    `INSERT INTO podcast_feed (id, user_id, kind, target, guid, created_at)
     VALUES (@id, @user_id, @kind, @target, @guid, @created_at) ON CONFLICT DO NOTHING`,
  )
  const deleteOne = ledger.sql('DELETE FROM podcast_feed WHERE id = ? AND user_id = ?')
  const deleteTargets = ledger.sql('DELETE FROM podcast_feed WHERE kind = ? AND target = ?')

  /** The beginning of all addresses of a feed. @param base  with a trailing slash */
  const addressOf = ({ id, user_id }: Pick<Feed, 'id' | 'user_id'>, base: string): string =>
    base.replace(/\/$/, '') + accounts.lastingLink(`/podcast/${id}`, user_id)

  return {
    addressOf,
    all: () => selectAll.all(),
    ofUser: (userId: number) => selectOfUser.all(userId),

    /** @throws not_found: the feed does not exist, or belongs to another account */
    existing(id: number, userId: number): Feed {
      const feed = selectOne.get(id)
      if (feed?.user_id !== userId) throw errors.notFound('feed')
      return feed
    },

    /** Returns the existing feed of the same target. @throws conflict: the account has too many */
    make: (userId: number, kind: Kind, target: string, base: string): Promise<Feed> =>
      ledger.write(() => {
        const known = selectSame.get(userId, kind, target)
        if (known) return known
        if (selectOfUser.all(userId).length >= MOST_OF_USER)
          throw errors.conflict(
            say`An account can have at most ${{ most: MOST_OF_USER }} podcasts; end one that you no longer use`,
          )
        const added = insert.run(userId, kind, target, '', epochSeconds(clock))
        const id = Number(added.lastInsertRowid)
        setGuid.run(guidOf(`${addressOf({ id, user_id: userId }, base)}/feed.xml`), id)
        return selectOne.get(id)!
      }),

    /** @throws not_found */
    async end(id: number, userId: number): Promise<void> {
      const { changes } = await ledger.write(() => deleteOne.run(id, userId))
      if (changes === 0) throw errors.notFound('feed')
    },

    ofTarget: (kind: Kind, target: string): Feed[] => selectTargets.all(kind, target),

    /**
     * Restores deleted feeds with their numbers, and so with their addresses, except those of accounts that were deleted
     * or have made the same feed again.
     */
    putBack: (deleted: readonly Feed[]): Promise<void> =>
      ledger.write(() => {
        for (const feed of deleted) if (accounts.get(feed.user_id)) insertAgain.run(feed)
      }),

    /** Deletes the feeds of a target that no longer exists. */
    async endOf(kind: Kind, target: string): Promise<void> {
      await ledger.write(() => deleteTargets.run(kind, target))
    },
  }
}

/** A UUID of version 5 for an address, without its protocol and trailing slashes. */
export function guidOf(address: string): string {
  const name = address.replace(/^[a-z]+:\/\//i, '').replace(/(?<!\/)\/+$/, '')
  const hash = createHash('sha1').update(GUIDS).update(name).digest().subarray(0, 16)
  hash[6] = (hash[6]! & 0x0f) | 0x50
  hash[8] = (hash[8]! & 0x3f) | 0x80
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

export type Feeds = ReturnType<typeof openFeeds>
