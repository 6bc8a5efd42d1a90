/** Possible and certain losses: the only code that reads and writes these rows. */
import { DAY_SECONDS } from 'archivolt'
import type { Loss } from '../video/schema.ts'
import type { App } from './app.ts'
import { KINDS, type Kind } from './rows.ts'

export const lossTables = {
  number: 2,
  sql: `CREATE TABLE history_loss (
    kind INTEGER NOT NULL,
    subject TEXT NOT NULL,
    -- of a channel its own id
    channel TEXT NOT NULL,
    loss TEXT NOT NULL,
    -- epoch seconds, of the first question that counts, and of one that counts much later: then the loss is certain
    first_at INTEGER,
    last_at INTEGER,
    -- epoch seconds: when it is asked for again
    ask_at INTEGER NOT NULL,
    -- epoch seconds; NULL: not certain
    lost_at INTEGER,
    -- epoch seconds: the platform has it again
    back_at INTEGER,
    -- 1: the document says what the row says, and the event was emitted
    is_marked INTEGER NOT NULL DEFAULT 0,
    -- 1: lost with its channel, which people are told of
    with_channel INTEGER NOT NULL DEFAULT 0,
    -- 1: the video is kept because of this
    is_kept INTEGER NOT NULL DEFAULT 0,
    -- 0: people are to be told
    is_told INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, subject)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX history_loss_ask ON history_loss (ask_at);
  CREATE INDEX history_loss_channel ON history_loss (channel, kind);
  CREATE TABLE history_told (
    channel TEXT PRIMARY KEY,
    -- epoch seconds
    told_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
}

export interface LossRow {
  kind: Kind
  subject: string
  channel: string
  loss: Loss
  first_at: number | null
  last_at: number | null
  ask_at: number
  lost_at: number | null
  back_at: number | null
  is_marked: 0 | 1
  with_channel: 0 | 1
  is_kept: 0 | 1
  is_told: 0 | 1
}

type Stored = Omit<LossRow, 'kind'> & { kind: number }

const NEW: Omit<LossRow, 'kind' | 'subject' | 'channel' | 'loss' | 'ask_at'> = {
  ...{ first_at: null, last_at: null, lost_at: null, back_at: null },
  ...{ is_marked: 0, with_channel: 0, is_kept: 0, is_told: 0 },
}

/** `ask_at` of a video that was lost with its channel: nothing is requested until the channel is available again. */
export const NEVER = Number.MAX_SAFE_INTEGER
/** The longest time between two requests. A later `ask_at` was stored while the clock was ahead: the request is due. */
export const MOST_APART_SECONDS = 90 * DAY_SECONDS

const DUE = '(ask_at <= ? OR ask_at > ? AND ask_at < ?) AND back_at IS NULL'
const dueValues = (now: number) => [now, now + MOST_APART_SECONDS, NEVER]

export function openLossRows({ ledger: { sql } }: Pick<App, 'ledger'>) {
  const toRow = (row: Stored): LossRow => ({ ...row, kind: KINDS[row.kind]! })
  const all = (where: string, ...values: unknown[]): LossRow[] =>
    sql<Stored>(`SELECT * FROM history_loss WHERE ${where}`)
      .all(...values)
      .map(toRow)
  const numberOf = (kind: Kind) => KINDS.indexOf(kind)

  const get = (kind: Kind, subject: string): LossRow | undefined => {
    const row = sql<Stored>('SELECT * FROM history_loss WHERE kind = ? AND subject = ?').get(numberOf(kind), subject)
    return row && toRow(row)
  }

  return {
    get,

    /** Adds a row, or changes these values. Call inside `ledger.write`. */
    put(row: Pick<LossRow, 'kind' | 'subject' | 'channel' | 'loss' | 'ask_at'> & Partial<LossRow>): void {
      const whole = { ...NEW, ...get(row.kind, row.subject), ...row }
      sql(
        `INSERT OR REPLACE INTO history_loss (kind, subject, channel, loss, first_at, last_at, ask_at, lost_at, back_at,
           is_marked, with_channel, is_kept, is_told)
         VALUES (@kind, @subject, @channel, @loss, @first_at, @last_at, @ask_at, @lost_at, @back_at,
           @is_marked, @with_channel, @is_kept, @is_told)`,
      ).run({ ...whole, kind: numberOf(row.kind) })
    },

    /** Call inside `ledger.write`. */
    remove: (kind: Kind, subject: string): void =>
      void sql('DELETE FROM history_loss WHERE kind = ? AND subject = ?').run(numberOf(kind), subject),

    /** The videos and channels whose next request is due, channels first. */
    due: (now: number, most: number): LossRow[] =>
      all(`${DUE} ORDER BY kind <> 1, ask_at LIMIT ?`, ...dueValues(now), most),

    /** Losses that two answers have confirmed, and that are not recorded as lost yet. */
    certain: (): LossRow[] => all('lost_at IS NULL AND last_at IS NOT NULL ORDER BY kind <> 1, channel, subject'),

    /** Lost or back, but not yet announced. */
    unmarked: (): LossRow[] => all('is_marked = 0 AND lost_at IS NOT NULL ORDER BY kind <> 1, channel, subject'),

    /** Subjects that the platform has again, before people are notified. */
    back: (): LossRow[] => all('back_at IS NOT NULL AND is_marked = 1 ORDER BY kind <> 1, channel, subject'),

    /** Losses that people are to be notified of. */
    untold: (): LossRow[] =>
      all('is_told = 0 AND is_marked = 1 AND lost_at IS NOT NULL AND back_at IS NULL ORDER BY channel, kind, subject'),

    ofChannel: (channel: string, kind: Kind): LossRow[] => all('channel = ? AND kind = ?', channel, numberOf(kind)),

    after: (kind: Kind, subject: string, most: number): LossRow[] =>
      all('kind = ? AND subject > ? AND lost_at IS NOT NULL ORDER BY subject LIMIT ?', numberOf(kind), subject, most),

    isAny: (): boolean => sql('SELECT 1 FROM history_loss WHERE lost_at IS NOT NULL LIMIT 1').get() !== undefined,

    lostWith: (channel: string): number =>
      sql<{ count: number }>(
        'SELECT count(*) AS count FROM history_loss WHERE channel = ? AND with_channel = 1 AND kind = 0',
      ).get(channel)!.count,

    /** Makes the lost videos of a channel due again, because they may be available, too. Call inside `ledger.write`. */
    askWith: (channel: string, now: number): void =>
      void sql('UPDATE history_loss SET ask_at = ? WHERE channel = ? AND with_channel = 1').run(now, channel),

    isDue: (now: number): boolean =>
      sql(
        `SELECT 1 WHERE EXISTS (SELECT 1 FROM history_loss WHERE ${DUE})
           OR EXISTS (SELECT 1 FROM history_loss
                WHERE (is_marked = 0 OR is_told = 0 OR back_at IS NOT NULL) AND last_at IS NOT NULL)`,
      ).get(...dueValues(now)) !== undefined,

    toldAt: (channel: string): number =>
      sql<{ at: number }>('SELECT told_at AS at FROM history_told WHERE channel = ?').get(channel)?.at ?? 0,

    /** Call inside `ledger.write`. */
    noteTold(channel: string, now: number, rows: readonly LossRow[]): void {
      sql('INSERT OR REPLACE INTO history_told (channel, told_at) VALUES (?, ?)').run(channel, now)
      for (const { kind, subject } of rows)
        sql('UPDATE history_loss SET is_told = 1 WHERE kind = ? AND subject = ?').run(numberOf(kind), subject)
    },

    /** Call inside `ledger.write`. */
    forget: (kind: Kind, subjects: readonly string[]): void =>
      void sql('DELETE FROM history_loss WHERE kind = ? AND subject IN (SELECT value FROM json_each(?))').run(
        ...[numberOf(kind), JSON.stringify(subjects)],
      ),
  }
}
