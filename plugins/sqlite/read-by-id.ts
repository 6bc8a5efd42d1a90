/** Reads documents of one collection by id, with a read-only connection that sees every write at once. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Collection, chunksOf, type IndexDefinition, Slice } from 'archivolt'
import { checkCount, readDoc } from 'archivolt/index'
import type { Connection } from './connection.ts'
import { docsOf, type Layout, type TableNames } from './layout.ts'
import type { Link } from './link.ts'
import type { DocSql } from './stored-form.ts'

const IDS_AT_ONCE = 200
const KNOWN_AT_ONCE = 1000
/** Number of documents, of any size, that are read between two checks of the clock. */
const ROWS_AT_ONCE = 10
/** Maximum size of one batch of documents: some have megabytes. */
const CHARACTERS_AT_ONCE = 8_000_000

/** The state that the parts of a collection share. */
export interface Target {
  readonly definition: IndexDefinition
  readonly layout: Layout
  /** The tables of the current version: call it again after every await. */
  names(): TableNames
  /** Reads with the read-only connection. */
  read<Value>(use: (reader: Connection) => Value): Value
  /** The link to the worker. */
  link(): Link
  /** Called for a document whose text is no longer JSON. */
  onGarbled(id: string): void
}

interface Row {
  id: string
  text: string
  internal: string | null
}

type Doc = Record<string, unknown>

/**
 * SQL of a row as one value, for `splitRow`: an object with three values would cost as much as the lookup. No id
 * contains a line feed.
 */
export const rowSql = (layout: Pick<Layout, 'flat'>, { text, soundText }: DocSql): string =>
  `m.rid || ' ' || m.id || char(10) || ifnull(${layout.flat ? soundText : text}, '')`

export function splitRow(row: string): { rid: number; id: string; text: string } {
  const [space, line] = [row.indexOf(' '), row.indexOf('\n')]
  return { rid: Number(row.slice(0, space)), id: row.slice(space + 1, line), text: row.slice(line + 1) }
}

const wholeRowSql = ({ text, internal }: Pick<DocSql, 'text' | 'internal'>): string =>
  `m.id || char(10) || ifnull(${internal}, '') || char(10) || ifnull(${text}, '')`

/** Neither ids nor internal values (as JSON) contain a line feed. */
function splitWholeRow(row: string): Row {
  const first = row.indexOf('\n')
  const second = row.indexOf('\n', first + 1)
  return { id: row.slice(0, first), internal: row.slice(first + 1, second) || null, text: row.slice(second + 1) }
}

/**
 * Interval after which a valid text is validated again: validating every text of a page takes a fifth of its reading
 * time.
 */
const CHECK_AGAIN_MS = 60_000
const MOST_SOUND = 20_000

/**
 * Validates texts before they are spliced into pages: pages are not parsed, so that one damaged text would break the
 * whole page.
 */
function openSoundness({ read }: Pick<Target, 'read'>) {
  const sound = new Set<number>()
  let [table, since] = ['', 0]
  return ({ rid, text }: { rid: number; text: string }, main: string): boolean => {
    if (main !== table || performance.now() - since > CHECK_AGAIN_MS || sound.size >= MOST_SOUND) {
      sound.clear()
      ;[table, since] = [main, performance.now()]
    }
    if (sound.has(rid)) return true
    const isSound = read(({ pluck }) => pluck<number>('SELECT json_valid(?)').get(text)) === 1
    if (isSound) sound.add(rid)
    return isSound
  }
}

/** Limit of remembered texts of a `joined` collection. A change of the collection clears them all. */
const MOST_REMEMBERED = 300
const LONGEST_REMEMBERED = 8192

export interface Points extends Pick<Collection, 'get' | 'getText' | 'getTexts' | 'getMany' | 'known'> {
  /** The documents in these rows, if they still exist; large ones in several batches. */
  at(rids: readonly number[]): AsyncIterable<Array<{ id: string; doc: Doc }>>
  /** Whether a text is valid JSON; reports it otherwise. @param main  the table of its row */
  isWhole(row: { rid: number; id: string; text: string }, main: string): boolean
}

export function openPoints(target: Target): Points {
  const isSound = openSoundness(target)

  const rowsAt = (rids: readonly number[]): Row[] =>
    valuesOf(rids, target.names(), wholeRowSql, 'rid').map(splitWholeRow)

  function row(id: string): Row | undefined {
    const names = target.names()
    const { join, text, internal } = docsOf(target.layout, names)
    return target.read(({ sql }) =>
      sql<Row>(
        `SELECT m.id, ${text} AS text, ${internal} AS internal FROM "${names.main}" m${join} WHERE m.id = ?`,
      ).get(id),
    )
  }

  function textOf(id: string): string | undefined {
    const names = target.names()
    const { join, soundText } = docsOf(target.layout, names)
    const text = target.read(({ pluck }) =>
      pluck<string>(`SELECT ${soundText} FROM "${names.main}" m${join} WHERE m.id = ?`).get(id),
    )
    if (text !== '') return text
    target.onGarbled(id)
    return undefined
  }

  /**
   * Reads all in one statement, at half the cost of one statement each. @param valueOf  SQL of one value for each
   * document
   */
  function valuesOf(
    keys: ReadonlyArray<string | number>,
    names: TableNames,
    valueOf: (sql: DocSql) => string,
    key: 'id' | 'rid' = 'id',
  ): string[] {
    const sql = docsOf(target.layout, names)
    const found = `SELECT ${valueOf(sql)} FROM json_each(?) j CROSS JOIN "${names.main}" m ON m.${key} = j.value${sql.join}`
    return target.read(({ pluck }) => pluck<string>(found).all(JSON.stringify(keys)))
  }

  function textsOf(ids: readonly string[]): ReadonlyMap<string, string> {
    const names = target.names()
    const rows = valuesOf(ids, names, (sql) => rowSql(target.layout, sql))
      .map(splitRow)
      .filter((row) => isWhole(row, names.main))
    return new Map(rows.map(({ id, text }) => [id, text]))
  }

  /** Cached by the connection until the next change of the collection. */
  function rememberedTexts(ids: readonly string[]): Array<[string, string]> {
    const texts = target.read(({ cached }) => cached('texts', () => new Map<string, string>()))
    if (texts.size > MOST_REMEMBERED) texts.clear()
    const missing = ids.filter((id) => !texts.has(id))
    const found = missing.length > 0 ? textsOf(missing) : new Map<string, string>()
    for (const [id, text] of found) if (text.length <= LONGEST_REMEMBERED) texts.set(id, text)
    return ids.flatMap((id): Array<[string, string]> => {
      const text = found.get(id) ?? texts.get(id)
      return text === undefined ? [] : [[id, text]]
    })
  }

  function isWhole(row: { rid: number; id: string; text: string }, main: string): boolean {
    // SQLite itself writes the texts of flat documents, and validates the others.
    if (target.layout.flat ? row.text !== '' : isSound(row, main)) return true
    target.onGarbled(row.id)
    return false
  }

  function read({ id, text, internal }: Row): Doc | undefined {
    const doc = readDoc(text, internal)
    if (!doc) target.onGarbled(id)
    return doc
  }

  /** Parses in slices: a batch of documents can be megabytes. */
  async function parse(rows: Iterable<Row>, take: (id: string, doc: Doc) => void, slice = new Slice()): Promise<void> {
    for (const row of rows) {
      const doc = read(row)
      if (doc) take(row.id, doc)
      if (slice.isOver) await slice.next()
    }
  }

  return {
    isWhole,

    async get(id) {
      const found = row(id)
      return found && read(found)
    },

    getText: async (id) => textOf(id),

    async getTexts(ids) {
      const found = new Map<string, string>()
      checkCount(target.definition, ids)
      await inTurns(ids, IDS_AT_ONCE, (some) => {
        for (const [id, text] of target.definition.joined ? rememberedTexts(some) : textsOf(some)) found.set(id, text)
      })
      return found
    },

    async getMany(ids) {
      const found = new Map<string, Doc>()
      checkCount(target.definition, ids)
      await inTurns(ids, IDS_AT_ONCE, async (some) => {
        await parse(valuesOf(some, target.names(), wholeRowSql).map(splitWholeRow), (id, doc) => found.set(id, doc))
      })
      return found
    },

    async known(ids) {
      const found = new Set<string>()
      await inTurns(ids, KNOWN_AT_ONCE, (some) => {
        const { main } = target.names()
        const present = target.read(({ pluck }) =>
          pluck<string>(`SELECT id FROM "${main}" WHERE id IN (SELECT value FROM json_each(?))`).all(
            JSON.stringify(some),
          ),
        )
        for (const id of present) found.add(id)
      })
      return found
    },

    async *at(rids) {
      let docs: Array<{ id: string; doc: Doc }> = []
      let characters = 0
      const slice = new Slice()
      for (const some of chunksOf(rids, ROWS_AT_ONCE)) {
        const rows = rowsAt(some)
        await parse(rows, (id, doc) => docs.push({ id, doc }), slice)
        characters += rows.reduce((sum, { text }) => sum + text.length, 0)
        if (characters < CHARACTERS_AT_ONCE || docs.length === 0) continue
        yield docs
        ;[docs, characters] = [[], 0]
      }
      if (docs.length > 0) yield docs
    },
  }
}

/** Processes a few ids per turn of the event loop. */
async function inTurns(
  ids: readonly string[],
  size: number,
  read: (some: readonly string[]) => Promise<void> | void,
): Promise<void> {
  let isFirst = true
  for (const some of chunksOf(ids, size)) {
    if (!isFirst) await nextTurn()
    isFirst = false
    await read(some)
  }
}
