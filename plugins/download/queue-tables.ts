/**
 * The rows of the queue in the ledger: the tables, and items as rows. There are two identical tables, of which one is
 * in use; a replacement fills the other and switches over in one write.
 */
import { faultIn, wordColumn } from 'archivolt'
import { DownloadDoc } from './schema.ts'

const tableSql = (table: string) => `
-- In the order of position. words: what its title is found by; retry_at, noted_at, timestamp: epoch seconds.
CREATE TABLE ${table} (
  position INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('pending', 'ignore', 'priority')),
  later INTEGER GENERATED ALWAYS AS (status <> 'priority') VIRTUAL,
  error_class TEXT,
  message TEXT,
  retry_at INTEGER,
  noted_at INTEGER,
  reopened INTEGER,
  title TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  channel_indexed INTEGER NOT NULL,
  duration TEXT NOT NULL,
  published TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  vid_type TEXT NOT NULL,
  force INTEGER,
  art TEXT,
  words TEXT NOT NULL
) STRICT;
CREATE INDEX ${table}_order ON ${table} (later, position, status, vid_type, channel_id, error_class);
CREATE INDEX ${table}_channel ON ${table} (channel_id, later, position, status, channel_indexed);
CREATE INDEX ${table}_figures ON ${table} (status, vid_type);
CREATE INDEX ${table}_failed ON ${table} (error_class, status) WHERE error_class IS NOT NULL;
CREATE INDEX ${table}_ready ON ${table} (later, position) WHERE status <> 'ignore' AND error_class IS NULL;
CREATE INDEX ${table}_due ON ${table} (retry_at) WHERE status <> 'ignore' AND retry_at IS NOT NULL;
`

export const TABLES = ['download_queue_a', 'download_queue_b'] as const
export type Table = (typeof TABLES)[number]

/** A new column is added to both tables by another migration. */
export const queueTables = {
  number: 4,
  sql: `${TABLES.map(tableSql).join('')}
CREATE TABLE download_queue_in_use (only INTEGER PRIMARY KEY CHECK (only = 1), name TEXT NOT NULL) STRICT;
INSERT INTO download_queue_in_use VALUES (1, '${TABLES[0]}');
`,
}

/** In this order in the table of removed items, too (`undoing.ts`). */
export const COLUMNS = [
  ...(['position', 'id', 'status', 'error_class', 'message', 'retry_at', 'noted_at', 'reopened', 'title'] as const),
  ...(['channel_id', 'channel_name', 'channel_indexed', 'duration', 'published', 'timestamp', 'vid_type'] as const),
  ...(['force', 'art', 'words'] as const),
]
type Column = (typeof COLUMNS)[number]
/** Columns with the names of keys of the item. */
type OwnColumn = Exclude<Column, 'id' | 'words'>
type Stored<Told> = Told extends boolean ? 0 | 1 : Told extends undefined ? null : Told
export type Row = { id: string; words: string } & { [Name in OwnColumn]: Stored<DownloadDoc[Name]> }
export type Value = string | number | null
/** The columns that a change may set. */
export type RowChange = Partial<Row>

/** Why an item cannot be stored as a row; undefined: it can. */
export function faultOf(doc: DownloadDoc): string | undefined {
  const fault = faultIn(DownloadDoc, doc)
  if (fault !== undefined) return fault
  // The schema allows larger integers than a row can hold.
  const [name] =
    Object.entries(doc).find(([, value]) => typeof value === 'number' && !Number.isSafeInteger(value)) ?? []
  return name && `${name} is too large`
}

const stored = (value: Value | boolean | undefined): Value =>
  typeof value === 'boolean' ? Number(value) : (value ?? null)

/** The values of an item in the order of `COLUMNS`. */
export const valuesOf = (doc: DownloadDoc): Value[] =>
  COLUMNS.map((name) =>
    name === 'id' ? doc.platform_id : name === 'words' ? wordColumn(doc.title) : stored(doc[name]),
  )

export const toDoc = (row: Row, pictureUrl: string): DownloadDoc => ({
  platform_id: row.id,
  status: row.status,
  auto_start: row.status === 'priority',
  ...(row.error_class !== null && { error_class: row.error_class }),
  ...(row.message !== null && { message: row.message }),
  ...(row.retry_at !== null && { retry_at: row.retry_at }),
  ...(row.noted_at !== null && { noted_at: row.noted_at }),
  ...(row.reopened !== null && { reopened: row.reopened === 1 }),
  title: row.title,
  channel_id: row.channel_id,
  channel_name: row.channel_name,
  channel_indexed: row.channel_indexed === 1,
  duration: row.duration,
  published: row.published,
  timestamp: row.timestamp,
  vid_type: row.vid_type,
  vid_thumb_url: pictureUrl,
  position: row.position,
  ...(row.force !== null && { force: row.force === 1 }),
  ...(row.art !== null && { art: row.art }),
})
