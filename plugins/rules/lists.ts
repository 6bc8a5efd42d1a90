/** Previews: stores the decisions of the keeping rules. Exactly these are shown and run. */
import { DAY_SECONDS, epochSeconds, errors, openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { GroupRows } from './group-rows.ts'
import type { RuleRows } from './rule-rows.ts'
import type { Rule } from './schema.ts'
import { openScopes } from './scopes.ts'
import { type KeepOutcome, type Row, type Sums, survey } from './survey.ts'

/** Number of rows in one part, and on one page of a reply. */
export const PART = 500
/** Maximum number of stored lists without a run; the oldest are removed. */
const MOST_LISTS = 20
export const DAMAGED = 'This preview is damaged: make a new one'
/** Maximum age of a list that may be run. */
export const LONGEST_AGE = DAY_SECONDS

export interface List {
  id: number
  /** Epoch seconds. */
  madeAt: number
  /** The version of the rules; undefined: the rules are a draft, so the list cannot be run. */
  version?: number
  rules: Rule[]
  sums: Sums
}

interface ListRow {
  id: number
  made_at: number
  version: number | null
  rules: string
  sums: string
}

export interface Lists {
  /** @param draft  rules that are not stored @throws bad_request: a pattern is not valid */
  make(options: { account?: number; draft?: readonly Rule[]; signal?: AbortSignal }): Promise<List>
  get(id: number): List | undefined
  /** The rows of one part, from 0. */
  rows(id: number, outcome: KeepOutcome, part: number): Row[]
  /** Decides again with the same rules, with the ages at the time of the list. */
  again(list: List, signal?: AbortSignal): Promise<Sums>
  remove(id: number): Promise<void>
}

export function openLists(app: App, rules: RuleRows, groups: GroupRows): Lists {
  const { ledger } = app
  // One survey at a time, because each needs processor time and memory.
  const locks = openLocks()

  function get(id: number): List | undefined {
    const row = ledger.sql<ListRow>('SELECT * FROM rules_list WHERE id = ?').get(id)
    const of = `rules_list ${id}`
    const stored = row && ledger.json<Rule[] | undefined>(row.rules, of, undefined)
    const sums = row && ledger.json<Sums | undefined>(row.sums, of, undefined)
    if (!row || !stored || !sums) return undefined
    return { id, madeAt: row.made_at, rules: stored, sums, ...(row.version !== null && { version: row.version }) }
  }

  async function write(id: number, asked: Rule[], now: number, signal: AbortSignal | undefined): Promise<Sums> {
    const buffers = new Map<KeepOutcome, Row[]>()
    const parts = new Map<KeepOutcome, number>()
    const writes: Array<Promise<unknown>> = []
    const flush = (outcome: KeepOutcome, rows: Row[]) => {
      const part = parts.get(outcome) ?? 0
      parts.set(outcome, part + 1)
      const text = JSON.stringify(
        rows.map((row) => [row.id, row.rule, row.bytes, row.freed, ...(row.note ? [row.note] : [])]),
      )
      writes.push(
        ledger.write(() =>
          ledger
            .sql('INSERT INTO rules_part (list_id, outcome, part, rows) VALUES (?, ?, ?, ?)')
            .run(id, outcome, part, text),
        ),
      )
    }
    try {
      const sums = await survey(
        app,
        asked,
        openScopes(groups),
        { now },
        {
          signal,
          onRow(outcome, row) {
            const rows = buffers.get(outcome) ?? []
            buffers.set(outcome, rows)
            rows.push(row)
            if (rows.length === PART) flush(outcome, rows.splice(0))
          },
        },
      )
      for (const [outcome, rows] of buffers) if (rows.length > 0) flush(outcome, rows)
      await Promise.all(writes)
      return sums
    } finally {
      // Wait for pending writes before the list is removed.
      await Promise.allSettled(writes)
    }
  }

  const removeRow = (id: number) => void ledger.sql('DELETE FROM rules_list WHERE id = ?').run(id)

  /**
   * Removes old lists. The totals of lists with a run stay for the history, but not their rows, which may be all
   * videos.
   */
  const tidy = () =>
    ledger.write(() => {
      ledger
        .sql(
          `DELETE FROM rules_list WHERE id NOT IN (SELECT list_id FROM rules_run)
           AND id NOT IN (SELECT id FROM rules_list ORDER BY id DESC LIMIT ${MOST_LISTS})`,
        )
        .run()
      ledger
        .sql(
          `DELETE FROM rules_part WHERE list_id IN (SELECT list_id FROM rules_run
             JOIN rules_list ON rules_list.id = list_id WHERE rules_list.made_at < ? AND ended_at IS NOT NULL)`,
        )
        .run(epochSeconds(app.clock) - LONGEST_AGE)
    })

  return {
    get,

    make: ({ account, draft, signal }) =>
      locks.exclusive('survey', async () => {
        signal?.throwIfAborted()
        const version = rules.version()
        const asked = [...(draft ?? rules.list('keep'))]
        const now = epochSeconds(app.clock)
        const id = await ledger.write(() =>
          Number(
            ledger
              .sql("INSERT INTO rules_list (made_at, version, account, rules, sums) VALUES (?, ?, ?, ?, '')")
              .run(now, draft ? null : version, account ?? null, JSON.stringify(asked)).lastInsertRowid,
          ),
        )
        try {
          const sums = await write(id, asked, now, signal)
          await ledger.write(() =>
            ledger.sql('UPDATE rules_list SET sums = ? WHERE id = ?').run(JSON.stringify(sums), id),
          )
        } catch (error) {
          await ledger.write(() => removeRow(id))
          throw error
        }
        await tidy()
        return get(id)!
      }),

    rows(id, outcome, part) {
      const text = ledger
        .sql<{ rows: string }>('SELECT rows FROM rules_part WHERE list_id = ? AND outcome = ? AND part = ?')
        .get(id, outcome, part)?.rows
      if (text === undefined) return []
      type Stored = [id: string, rule: number, bytes: number, freed: number, note?: Row['note']]
      const rows = ledger.json<Stored[] | undefined>(text, `rules_part of list ${id}`, undefined)
      if (!rows) throw errors.unprocessable(DAMAGED)
      return rows.map(([video, rule, bytes, freed, note]) => ({ id: video, rule, bytes, freed, ...(note && { note }) }))
    },

    again: ({ rules: asked, madeAt, sums }, signal) =>
      locks.exclusive('survey', () =>
        survey(
          app,
          asked,
          openScopes(groups),
          { now: madeAt, ...(sums.free !== undefined && { free: sums.free }) },
          { onRow: () => undefined, signal },
        ),
      ),

    remove: (id) => ledger.write(() => removeRow(id)),
  }
}
