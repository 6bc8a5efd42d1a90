/**
 * Missing films: the archive has the record, but its film was not found. The record stays unchanged until the film is
 * found or downloaded again, or a person removes it.
 */
import type { App } from './app.ts'
import type { Missing } from './types.ts'

export const missingTables = {
  number: 6,
  sql: `
    -- of the library; of those in places media_film tells
    CREATE TABLE media_missing (video_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    -- data folders from before the first release have one of this name on another column, and lack the other two
    DROP INDEX IF EXISTS media_film_lost;
    CREATE INDEX media_film_lost ON media_film (video_id) WHERE state = 'lost';
    CREATE INDEX IF NOT EXISTS media_film_channel ON media_film (channel_id);
    CREATE INDEX IF NOT EXISTS media_film_forgotten ON media_film (place_id) WHERE state = 'forgotten';`,
}

const ALL = "SELECT video_id FROM media_missing UNION SELECT video_id FROM media_film WHERE state = 'lost'"

export function openMissing({ ledger, touch }: Pick<App, 'ledger' | 'touch'>): Missing {
  const ids = (sql: string, ...values: Array<string | number>): string[] =>
    ledger
      .sql<{ video_id: string }>(sql)
      .all(...values)
      .map(({ video_id: id }) => id)
  /** For each check under way, the videos that were removed from the list since its beginning. */
  const dropped = new Set<Set<string>>()
  const has = () => ledger.cached('whether films are missing', () => ledger.sql(`${ALL} LIMIT 1`).get() !== undefined)

  return {
    of(videoIds) {
      if (videoIds.length === 0 || !has()) return new Set()
      return new Set(
        ids(
          `SELECT value AS video_id FROM json_each(?) AS asked
           WHERE EXISTS (SELECT 1 FROM media_missing WHERE video_id = asked.value)
             OR EXISTS (SELECT 1 FROM media_film WHERE video_id = asked.value AND state = 'lost')`,
          JSON.stringify(videoIds),
        ),
      )
    },
    count: () => ledger.sql<{ count: number }>(`SELECT count(*) AS count FROM (${ALL})`).get()!.count,
    page: (from, size) => ids(`${ALL} ORDER BY video_id LIMIT ? OFFSET ?`, size, from),
    after: (id, size) => ids(`SELECT video_id FROM (${ALL}) WHERE video_id > ? ORDER BY video_id LIMIT ?`, id, size),

    async replace(check) {
      const found = new Set<string>()
      dropped.add(found)
      try {
        const missing = await check()
        await ledger.write(() => {
          ledger.sql('DELETE FROM media_missing').run()
          const put = ledger.sql('INSERT INTO media_missing (video_id) VALUES (?) ON CONFLICT DO NOTHING')
          for (const id of missing) if (!found.has(id)) put.run(id)
        })
      } finally {
        dropped.delete(found)
      }
      touch()
    },
    async drop(videoIds) {
      for (const found of dropped) for (const id of videoIds) found.add(id)
      if (videoIds.length === 0 || ledger.sql('SELECT 1 FROM media_missing LIMIT 1').get() === undefined) return
      await ledger.write(
        () =>
          void ledger
            .sql('DELETE FROM media_missing WHERE video_id IN (SELECT value FROM json_each(?))')
            .run(JSON.stringify(videoIds)),
      )
      touch()
    },
  }
}
