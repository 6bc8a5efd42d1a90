/**
 * Imports playlists of the platform as the other program has stored them, without a subscription and without a request.
 */
import type { PlaylistMetadata } from '../../platform/types.ts'
import type { App } from '../app.ts'
import type { One, Stored, Way } from './ways.ts'

type Row = Stored<'platform_list'>

/**
 * The metadata of a playlist. Entries without a title get the title of the archive's video; if that is missing too,
 * they are left out.
 */
async function metadataOf(one: One<'platform_list'>, { videos }: App): Promise<PlaylistMetadata> {
  const { id, name, entries, description = '', channelId = '', channelName = '' } = one
  const untitled = entries.flatMap(({ id: videoId, title }) => (title === '' ? [videoId] : []))
  const docs = await videos.collection.getMany(untitled)
  return {
    id,
    name: name || id,
    description,
    channelId: channelId || null,
    channelName: channelName || null,
    entries: entries.flatMap(({ id: videoId, title, uploader = channelName }) => {
      const doc = docs.get(videoId)
      if (title === '' && !doc) return []
      return [{ id: videoId, title: title || doc!.title, uploader: uploader || null, isThere: true }]
    }),
  }
}

/** Skips playlists that exist here, and playlists without a video of the archive. */
export const platformList: Way<'platform_list'> = {
  async open(rows, app) {
    const here = await app.playlists.known(rows.map(({ one: { id } }) => id))
    const fresh: Row[] = []
    for (const row of rows) {
      if (here.has(row.one.id)) continue
      const known = await app.videos.known(row.one.entries.map(({ id }) => id))
      if (known.size > 0) fresh.push(row)
    }
    return fresh
  },

  /** Skips playlists that were refreshed from the platform, subscribed to or removed since. */
  async bring(rows, app) {
    for (const { one, isDone } of rows) {
      const doc = await app.playlists.get(one.id)
      const metadata = await metadataOf(one, app)
      const listed = new Set(metadata.entries.map(({ id }) => id))
      const isAsImported =
        doc && !doc.playlist_subscribed && doc.playlist_entries.every(({ platform_id: id }) => listed.has(id))
      if (doc ? !isAsImported : isDone) continue
      await app.playlists.index(metadata)
      if (one.isGone) await app.playlists.setActive([one.id], false)
    }
    return undefined
  },

  async undo(rows, app) {
    for (const { one } of rows) {
      const doc = await app.playlists.get(one.id)
      if (doc && !doc.playlist_subscribed) await app.playlists.remove(one.id)
    }
  },
}
