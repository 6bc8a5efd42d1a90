/**
 * Converts playlists that people have made in the other program to private playlists of the account that imports them.
 */
import { randomUUID } from 'node:crypto'
import { type Actor, isAppError, isBlank } from 'archivolt'
import type { App } from '../app.ts'
import type { Stored, Way } from './ways.ts'

type Row = Stored<'list'>

/** The account as an actor; undefined: the account was removed. */
function actorOf(userId: number, { accounts }: App): Actor | undefined {
  const account = accounts.get(userId)
  if (!account) return undefined
  const { id, username } = account
  return { id, username, isAdmin: false, mayDownload: false, via: 'none' }
}

function nameOf({ one: { name, id } }: Row): string {
  const line = name
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
  return isBlank(line) ? id : line
}

async function namesOf(actor: Actor, { playlists }: App): Promise<Set<string>> {
  const { texts } = await playlists.find({ visibility: 'private', from: 0, size: 500 }, actor)
  return new Set(texts.map((text) => (JSON.parse(text) as { playlist_name: string }).playlist_name))
}

/** Skips playlists whose name exists here, and playlists without a video of the archive. */
export const list: Way<'list'> = {
  async open(rows, app) {
    const fresh: Row[] = []
    for (const row of rows) {
      const actor = actorOf(row.userId, app)
      if (!actor || (await namesOf(actor, app)).has(nameOf(row))) continue
      const known = await app.videos.known(row.one.entries)
      if (known.size > 0) fresh.push({ ...row, made: `${app.settings.prefix}_playlist_${randomUUID()}` })
    }
    return fresh
  },

  /** Also adds videos that were imported since. A playlist that somebody has removed is not created again. */
  async bring(rows, app) {
    for (const row of rows) {
      const [actor, id] = [actorOf(row.userId, app), row.made]
      if (!actor || id === undefined) continue
      const there = await app.playlists.videosOf(id, actor)
      if (!there && row.isDone) continue
      try {
        if (!there) await app.playlists.create(nameOf(row), 'private', actor, id)
        const has = new Set(there)
        const missing = row.one.entries.filter((videoId) => !has.has(videoId))
        await app.playlists.actOnChosen(id, 'create', missing, actor)
      } catch (thrown) {
        if (!isAppError(thrown, 'conflict')) throw thrown // the playlist is full, or the account has too many
      }
    }
    return undefined
  },

  /** Keeps videos that people have added, and playlists that contain such videos. */
  async undo(rows, app) {
    for (const row of rows) {
      const [actor, id] = [actorOf(row.userId, app), row.made]
      const there = actor && id !== undefined ? await app.playlists.videosOf(id, actor) : undefined
      if (!actor || id === undefined || !there) continue
      const brought = new Set(row.one.entries)
      if (there.every((videoId) => brought.has(videoId))) await app.playlists.remove(id)
      else
        await app.playlists.actOnChosen(
          id,
          'remove',
          there.filter((videoId) => brought.has(videoId)),
          actor,
        )
    }
  },
}
