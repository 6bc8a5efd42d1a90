/**
 * The library's own films: the path and extension of each. The ledger has them; after a loss of the ledger, the disk is
 * searched. A new film with another extension is complete before the old one is removed.
 */
import { rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { App } from './app.ts'
import { OWN_ENDING, OWN_ENDINGS, type OwnEnding, ownEndingOf } from './containers.ts'
import { exists, sync } from './files.ts'
import type { Library } from './library.ts'
import type { Paths } from './paths.ts'
import type { Media } from './types.ts'

export const ownFilmTables = {
  number: 5,
  // `other`: the extension of the old film in an exchange; that file is removed.
  sql: `
    CREATE TABLE media_own (
      video_id TEXT PRIMARY KEY,
      channel_id TEXT NOT NULL,
      ending TEXT NOT NULL,
      other TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX media_own_other ON media_own (video_id) WHERE other IS NOT NULL;`,
}

interface Row {
  video_id: string
  channel_id: string
  ending: OwnEnding
  other: OwnEnding | null
}

export type OwnFilms = ReturnType<typeof openOwnFilms>

export function openOwnFilms(
  paths: Pick<Paths, 'pathOf'>,
  library: Pick<Library, 'adopt'>,
  { ledger }: Pick<App, 'ledger'>,
) {
  const rowOf = (videoId: string): Row | undefined =>
    ledger.sql<Row>('SELECT * FROM media_own WHERE video_id = ?').get(videoId)
  /**
   * undefined: not known yet, so the usual extension is assumed. The entry of a removed video stays, because it may be
   * restored.
   */
  const endingOf = (videoId: string): OwnEnding | undefined => rowOf(videoId)?.ending
  const pathOf = (channelId: string, videoId: string): string => paths.pathOf(channelId, videoId, endingOf(videoId))
  const homeOf = (channelId: string, videoId: string, from: string): string =>
    paths.pathOf(channelId, videoId, ownEndingOf(from))

  const note = (channelId: string, videoId: string, ending: OwnEnding, other: OwnEnding | null = null) =>
    ledger.write(() =>
      ledger
        .sql(
          `INSERT INTO media_own (video_id, channel_id, ending, other) VALUES (?, ?, ?, ?) ON CONFLICT (video_id) DO UPDATE
           SET channel_id = excluded.channel_id, ending = excluded.ending, other = excluded.other`,
        )
        .run(videoId, channelId, ending, other),
    )

  /** Removes the old file, but never the only file of a film. */
  async function endExchange({ video_id: id, channel_id: channelId, ending, other }: Row): Promise<void> {
    if (other === null) return
    const [current, old] = [paths.pathOf(channelId, id, ending), paths.pathOf(channelId, id, other)]
    const isThere = await exists(current)
    if (isThere && (await exists(old))) {
      await rm(old, { force: true })
      await sync(dirname(old))
    }
    await note(channelId, id, isThere || !(await exists(old)) ? ending : other)
  }

  async function adoptFilm(channelId: string, videoId: string, mediaPath: string): Promise<void> {
    const [before, next] = [endingOf(videoId) ?? OWN_ENDING, ownEndingOf(mediaPath)]
    const isExchange = before !== next && resolve(mediaPath) !== homeOf(channelId, videoId, mediaPath)
    // Both films exist for a moment: the ledger always says which one is valid.
    if (isExchange) await note(channelId, videoId, before, next)
    await library.adopt(channelId, videoId, { mediaPath, subtitles: [] })
    if (before !== next) await note(channelId, videoId, next, isExchange ? before : null)
    const row = rowOf(videoId)
    if (row) await endExchange(row)
  }

  return {
    endingOf,
    pathOf,
    homeOf,

    /** The film's path; corrects the ledger if it is wrong. */
    async find(channelId: string, videoId: string): Promise<string> {
      const path = pathOf(channelId, videoId)
      if (await exists(path)) return path
      for (const ending of OWN_ENDINGS) {
        const other = paths.pathOf(channelId, videoId, ending)
        if (other === path || !(await exists(other))) continue
        await note(channelId, videoId, ending)
        return other
      }
      return path
    },

    async adopt(...[channelId, videoId, { mediaPath, subtitles }]: Parameters<Media['adopt']>): Promise<void> {
      if (mediaPath !== undefined) await adoptFilm(channelId, videoId, mediaPath)
      if (mediaPath === undefined || subtitles.length > 0) await library.adopt(channelId, videoId, { subtitles })
    },

    /** Finishes interrupted exchanges. @param skip  called for a film whose folder cannot be read */
    async tidy(skip: (videoId: string, err: unknown) => void): Promise<void> {
      for (const row of ledger.sql<Row>('SELECT * FROM media_own WHERE other IS NOT NULL').all())
        await endExchange(row).catch((err: unknown) => skip(row.video_id, err))
    },
  }
}
