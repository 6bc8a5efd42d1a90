/** Notes which rows change, in the same transaction. The triggers end with the connection: none outlives its plugin. */
import type Database from 'better-sqlite3'

/** Rows that describe something. The plugin that owns their table declares them. */
export interface ToldRows {
  table: string
  /** What a row tells of, as SQL: `old.map_id`. NULL: nothing. */
  id: (row: 'old' | 'new') => string
  /** When a change counts, as SQL on `old` and `new`. Default: always. */
  when?: string
}

/** @param into  a table with the columns `kind`, `id` and `times`, which is how often it was noted */
export function followRows(db: Database.Database, { table, id, when }: ToldRows, into: string, kind: string): void {
  const note = (row: 'old' | 'new') =>
    `INSERT INTO ${into} (kind, id) SELECT '${kind}', ${id(row)} WHERE ${id(row)} IS NOT NULL
     ON CONFLICT DO UPDATE SET times = times + 1;`
  const trigger = (verb: string, notes: string, condition = '') =>
    db.exec(
      `CREATE TEMP TRIGGER "${into} ${kind} ${table} ${verb}" AFTER ${verb} ON main."${table}" ${condition} BEGIN ${notes} END`,
    )
  trigger('INSERT', note('new'))
  trigger('DELETE', note('old'))
  trigger('UPDATE', `${note('old')} ${note('new')}`, when === undefined ? '' : `WHEN ${when}`)
}
