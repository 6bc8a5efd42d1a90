/**
 * Stores the former state of items that were removed from the queue or ignored, so that this can be undone for a day.
 */
import { randomUUID } from 'node:crypto'
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import type { App } from './app.ts'
import { COLUMNS, type Row, type Table, toDoc } from './queue-tables.ts'
import type { DownloadDoc } from './schema.ts'

export const undoTables = {
  number: 5,
  sql: `
-- Rows of the queue by their columns; at: epoch seconds.
CREATE TABLE download_undo (
  removal TEXT NOT NULL,
  at INTEGER NOT NULL,
  ${COLUMNS.join(' ANY, ')} ANY,
  PRIMARY KEY (removal, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX download_undo_at ON download_undo (at);
`,
}

/** Maximum number of expired rows that one change deletes. */
const FORGOTTEN = 2000

export interface Removal {
  id: string
  /** Stores the rows. Call it inside the write that changes them, before the change. */
  note(table: Table, where: string, values: readonly unknown[]): void
}

export function openQueueUndo({ ledger, clock, media }: Pick<App, 'ledger' | 'clock' | 'media'>) {
  return {
    async begin(): Promise<Removal> {
      const [id, now] = [randomUUID(), epochSeconds(clock)]
      await ledger.write(
        () =>
          void ledger
            .sql(
              `DELETE FROM download_undo WHERE (removal, id) IN (SELECT removal, id FROM download_undo WHERE at < ? LIMIT ?)`,
            )
            .run(now - DAY_SECONDS, FORGOTTEN),
      )
      return {
        id,
        note(table, where, values) {
          ledger
            .sql(`INSERT OR IGNORE INTO download_undo SELECT ?, ?, ${COLUMNS.join(', ')} FROM ${table} WHERE ${where}`)
            .run(id, now, ...values)
        },
      }
    },

    has: (removal: string): boolean =>
      ledger.sql('SELECT 1 FROM download_undo WHERE removal = ? LIMIT 1').get(removal) !== undefined,

    /** The first stored items of a removal, in the order of the queue. */
    some: (removal: string, limit: number): DownloadDoc[] =>
      ledger
        .sql<Row>(`SELECT ${COLUMNS.join(', ')} FROM download_undo WHERE removal = ? ORDER BY position LIMIT ?`)
        .all(removal, limit)
        .map((row) => toDoc(row, media.artUrl('video', row.id))),

    forget: (removal: string, ids: readonly string[]): Promise<void> =>
      ledger.write(
        () =>
          void ledger
            .sql('DELETE FROM download_undo WHERE removal = ? AND id IN (SELECT value FROM json_each(?))')
            .run(removal, JSON.stringify(ids)),
      ),
  }
}
