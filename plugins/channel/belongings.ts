/** Collects everything that belongs to a channel itself before its removal, and restores it completely, for the bin. */
import { type Collection, errors, faultIn, type NamesOf, say, type ToldRows, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Handles } from './handles.ts'
import { ChannelDoc, type channelIndex } from './schema.ts'

/** A plugin's part of a channel's belongings; implements the hook `channel.belongings`. */
export interface OwnChannelBelongings {
  /** The key under which the part is stored. */
  of: string
  /** Called before the removal. Returns JSON; undefined: nothing belongs to the channel. */
  collect(channelId: string): Promise<unknown>
  /** Called when the channel's document is restored. May be repeated. Data from the disk is checked first. */
  restore(channelId: string, stored: unknown): Promise<void>
  /** Sidecars omit this part, for example because it contains ids of accounts, which are different in another ledger. */
  isOnlyForBin?: true
  /** The rows in which it is stored, so that plugins that keep a record of channels can detect changes. */
  rows?: readonly ToldRows[]
}

export interface ChannelBelongings {
  channel: ChannelDoc
  handles: string[]
  /** Accounts whose view includes the channel by its id. */
  seenBy: number[]
  /** The parts of other plugins, by plugin. */
  others: Record<string, unknown>
}

const Record = Type.Object({
  channel: ChannelDoc,
  handles: Type.Array(Type.String({ maxLength: 200 })),
  seenBy: Type.Array(Type.Integer()),
  others: Type.Record(Type.String(), Type.Unknown()),
})

export function openChannelBelongings(
  app: App,
  collection: Collection<ChannelDoc, NamesOf<typeof channelIndex>>,
  handles: Handles,
) {
  return {
    async collect(id: string): Promise<ChannelBelongings | undefined> {
      const channel = await collection.get(id)
      if (!channel) return undefined
      const others: Record<string, unknown> = {}
      for (const { of, collect } of app.hook('channel.belongings')) {
        const value = await collect(id)
        if (value !== undefined) others[of] = value
      }
      const seenBy = app.accounts.list().filter(({ view }) => view?.['channel']?.includes(id))
      return { channel, handles: handles.of(id), seenBy: seenBy.map((account) => account.id), others }
    },

    checkBelongings(id: string, told: unknown): ChannelBelongings {
      const fault = faultIn(Record, told)
      if (fault !== undefined) throw errors.unprocessable(say`The record of ${{ id }} is damaged: ${{ fault }}`)
      const stored = told as ChannelBelongings
      if (stored.channel.channel_id !== id)
        throw errors.unprocessable(say`The record of ${{ id }} is about another channel`)
      return stored
    },

    async giveBack(id: string, stored: ChannelBelongings): Promise<void> {
      await collection.create(id, stored.channel, { visible: true })
      for (const handle of stored.handles) await handles.remember(handle, id, true)
      for (const account of stored.seenBy) {
        const view = app.accounts.get(account)?.view
        const shown = view?.['channel'] // a view that hides has none
        if (shown && !shown.includes(id))
          await app.accounts.change(account, { view: { ...view, channel: [...shown, id] } })
      }
      for (const { of, restore } of app.hook('channel.belongings'))
        if (stored.others[of] !== undefined) await restore(id, stored.others[of])
    },
  }
}
