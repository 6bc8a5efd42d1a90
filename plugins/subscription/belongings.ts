/** The scan depth of a removed channel and the beginning of its subscription, as the bin stores them. */
import { faultIn, type Static, Type } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { App } from './app.ts'
import { beginFeeds } from './feeds.ts'

/** `[tab, entries]`, and `[tab, take, job, passed]`, like the rows. */
const Stored = Type.Object({
  depth: Type.Array(Type.Tuple([Type.String(), Type.Integer()])),
  beginning: Type.Array(
    Type.Tuple([Type.String(), Type.Union([Type.String(), Type.Null()]), Type.String(), Type.String()]),
  ),
})
type Stored = Static<typeof Stored>

export function channelBelongings(app: App): OwnChannelBelongings {
  const { ledger } = app
  return {
    of: 'subscription',

    async collect(channelId): Promise<Stored> {
      const depth = ledger
        .sql<{ tab: string; entries: number }>('SELECT tab, entries FROM subscription_depth WHERE channel_id = ?')
        .all(channelId)
      const beginning = ledger
        .sql<{ tab: string; take: string | null; job_id: string; passed: string }>(
          'SELECT tab, take, job_id, passed FROM subscription_beginning WHERE id = ?',
        )
        .all(channelId)
      return {
        depth: depth.map(({ tab, entries }) => [tab, entries]),
        beginning: beginning.map(({ tab, take, job_id: jobId, passed }) => [tab, take, jobId, passed]),
      }
    },

    async restore(channelId, told) {
      if (faultIn(Stored, told) !== undefined) return
      const { depth, beginning } = told as Stored
      await ledger.write(() => {
        const putDepth = ledger.sql(
          'INSERT INTO subscription_depth (channel_id, tab, entries) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        )
        const putBeginning = ledger.sql(
          'INSERT INTO subscription_beginning (id, tab, take, job_id, passed) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
        )
        for (const row of depth) putDepth.run(channelId, ...row)
        for (const row of beginning) putBeginning.run(channelId, ...row)
      })
      // The rounds have ended if no other channel is subscribed.
      await beginFeeds(app)
    },
  }
}
