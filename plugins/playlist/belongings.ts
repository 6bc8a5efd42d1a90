/**
 * This plugin's part of what the bin stores: the positions of removed videos in custom playlists, and the playlists
 * that belong to a removed channel.
 */
import { faultIn, Type } from 'archivolt'
import type { OwnChannelBelongings } from '../channel/belongings.ts'
import type { OwnBelongings } from '../video/types.ts'
import type { App } from './app.ts'
import { type Positions, renamedId } from './custom-rows.ts'
import { PlaylistDoc } from './schema.ts'

/** The schema of `Positions`. */
const Stored = Type.Array(
  Type.Tuple([Type.String(), Type.Integer(), Type.String(), Type.Union([Type.String(), Type.Null()])]),
)

export function belongings({ playlists }: App): OwnBelongings {
  return {
    of: 'playlist',
    rows: [{ table: 'playlist_custom_entry', id: (row) => `${row}.video_id` }],
    collect: async (ids) => playlists.positionsOf(ids),
    renamed: (stored, as) =>
      faultIn(Stored, stored) === undefined
        ? (stored as Positions).flatMap(([id, ...rest]) => {
            const other = renamedId(id, as)
            return other === undefined ? [] : [[other, ...rest]]
          })
        : undefined,
    restore: (stored, ids) =>
      playlists.putBack(
        new Map([...stored].filter(([, told]) => faultIn(Stored, told) === undefined) as Array<[string, Positions]>),
        ids,
      ),
  }
}

const Lists = Type.Array(PlaylistDoc)

/** Playlists listed by a channel are removed with it, and restored before its videos. They have their own sidecars. */
export function channelBelongings({ playlists }: App): OwnChannelBelongings {
  return {
    of: 'playlist',
    isOnlyForBin: true,
    collect: (channelId) => playlists.ofChannel(channelId),
    async restore(channelId, stored) {
      if (faultIn(Lists, stored) !== undefined) return
      const own = (stored as PlaylistDoc[]).filter((doc) => doc.playlist_channel_id === channelId)
      await playlists.giveBack(own)
    },
  }
}
