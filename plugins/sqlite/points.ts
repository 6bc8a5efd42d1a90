/** Documents of one collection by their ids, read here on a read-only connection: sees every write at once. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection, IndexDefinition } from 'archivolt'
import { checkCount, chunksOf, readDoc, Slice } from 'archivolt/index'
import type { Connection } from './connection.ts'
import type { Layout, TableNames } from './layout.ts'
import type { Link } from './link.ts'

const IDS_AT_ONCE = 200
const KNOWN_AT_ONCE = 1000

/** What the parts of a collection share. */
export interface Target {
  readonly definition: IndexDefinition
  readonly layout: Layout
  /** Of the version that counts now: asked for anew after every await. */
  names(): TableNames
  /** On the connection that only reads. */
  read<Value>(use: (reader: Connection) => Value): Value
  /** The worker's. */
  link(): Link
  /** Of a document whose text is no JSON any more. */
  onGarbled(id: string): void
}

/** A text as it is kept; empty where it is damaged: a page is put together from texts, unread. */
export const SOUND_TEXT = `CASE WHEN json_valid(d.text) THEN d.text ELSE '' END`

interface Row {
  id: string
  text: string
  internal: string | null
}

type Doc = Record<string, unknown>

export class Points implements Pick<Collection, 'get' | 'getText' | 'getTexts' | 'getMany' | 'known'> {
  readonly #target: Target

  constructor(target: Target) {
    this.#target = target
  }

  async get(id: string): Promise<Doc | undefined> {
    const found = this.#row('id', id)
    return found && this.#read(found)
  }

  async getText(id: string): Promise<string | undefined> {
    return this.#text(id)
  }

  async getTexts(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    const take = (id: string) => {
      const text = this.#text(id)
      if (text !== undefined) found.set(id, text)
    }
    checkCount(this.#target.definition, ids)
    await inTurns(ids, IDS_AT_ONCE, (some) => this.#together(() => some.forEach(take)))
    return found
  }

  async getMany(ids: readonly string[]): Promise<Map<string, Doc>> {
    const found = new Map<string, Doc>()
    checkCount(this.#target.definition, ids)
    await inTurns(ids, IDS_AT_ONCE, async (some) => {
      const rows = this.#together(() => some.flatMap((id) => this.#row('id', id) ?? []))
      for await (const { id, doc } of this.#parsed(rows)) found.set(id, doc)
    })
    return found
  }

  async known(ids: readonly string[]): Promise<Set<string>> {
    const found = new Set<string>()
    await inTurns(ids, KNOWN_AT_ONCE, (some) => {
      const { main } = this.#target.names()
      const present = this.#target.read(({ pluck }) =>
        pluck<string>(`SELECT id FROM "${main}" WHERE id IN (SELECT value FROM json_each(?))`).all(
          JSON.stringify(some),
        ),
      )
      for (const id of present) found.add(id)
    })
    return found
  }

  /** Those that stand in these rows, where they still do. */
  async at(rids: readonly number[]): Promise<Array<{ id: string; doc: Doc }>> {
    const docs: Array<{ id: string; doc: Doc }> = []
    for await (const each of this.#parsed(this.#rowsAt(rids))) docs.push(each)
    return docs
  }

  *#rowsAt(rids: readonly number[]): Generator<Row> {
    for (const rid of rids) {
      const found = this.#row('rid', rid)
      if (found) yield found
    }
  }

  #row(key: 'id' | 'rid', value: string | number): Row | undefined {
    const { main, doc } = this.#target.names()
    return this.#target.read(({ sql }) =>
      sql<Row>(
        `SELECT m.id, d.text, d.internal FROM "${main}" m JOIN "${doc}" d ON d.rid = m.rid WHERE m.${key} = ?`,
      ).get(value),
    )
  }

  #text(id: string): string | undefined {
    const { main, doc } = this.#target.names()
    const text = this.#target.read(({ pluck }) =>
      pluck<string>(`SELECT ${SOUND_TEXT} FROM "${main}" m JOIN "${doc}" d ON d.rid = m.rid WHERE m.id = ?`).get(id),
    )
    if (text !== '') return text
    this.#target.onGarbled(id)
    return undefined
  }

  #read({ id, text, internal }: Row): Doc | undefined {
    const doc = readDoc(text, internal)
    if (!doc) this.#target.onGarbled(id)
    return doc
  }

  /** Parses in slices: a batch of documents can be megabytes. */
  async *#parsed(rows: Iterable<Row>): AsyncGenerator<{ id: string; doc: Doc }> {
    const slice = new Slice()
    for (const row of rows) {
      const doc = this.#read(row)
      if (doc) yield { id: row.id, doc }
      if (slice.isOver) await slice.next()
    }
  }

  #together<Value>(work: () => Value): Value {
    return this.#target.read(({ together }) => together(work))
  }
}

/** A few ids in a turn of the loop. */
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
