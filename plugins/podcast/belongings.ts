/** The podcasts of a removed channel, as the bin stores them: with their numbers, so that their addresses work again. */
import { faultIn, type Static, Type } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { App } from './app.ts'

const Stored = Type.Array(
  Type.Object({ id: Type.Integer(), user_id: Type.Integer(), guid: Type.String(), created_at: Type.Integer() }),
)

export const channelBelongings = ({ feeds }: App): OwnChannelBelongings => ({
  of: 'podcast',
  isOnlyForBin: true,
  async collect(channelId) {
    const own = feeds.ofTarget('channel', channelId)
    if (own.length === 0) return undefined
    return own.map(({ kind: _k, target: _t, ...feed }) => feed) satisfies Static<typeof Stored>
  },
  async restore(channelId, stored) {
    if (faultIn(Stored, stored) !== undefined) return
    await feeds.putBack(
      (stored as Static<typeof Stored>).map((feed) => ({ ...feed, kind: 'channel', target: channelId })),
    )
  },
})
