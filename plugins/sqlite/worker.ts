/** The index worker: has the only writing connection, and does all reads that may take longer than an indexed page. */
import { type FileHandle, open as openFile } from 'node:fs/promises'
import { parentPort } from 'node:worker_threads'
import type { BulkResult, Change, Filter } from 'archivolt'
import { applyChange, type JsonObject, MAX_WINDOW, Refusal, WrongType } from 'archivolt/index'
import { aggregate } from './aggregate.ts'
import {
  addFields,
  arrange,
  create,
  fill,
  rebuild,
  rebuildBegin,
  rebuildEnd,
  rebuildRead,
  rebuildWrite,
  replaceAbort,
  replaceBegin,
  replaceEnd,
} from './build.ts'
import { type Bind, type Connection, connect, isDamage } from './connection.ts'
import { countSql, filterSql, givenSql, pageSql, whereSql } from './filter.ts'
import { docsOf } from './layout.ts'
import { partsSql } from './parts.ts'
import {
  type Arguments,
  CHANGES_OF_ONE,
  type Control,
  type FoundRows,
  type IdText,
  type PartRow,
  type Read,
  type Request,
  type Response,
  type Result,
  RULES,
  type Write,
} from './protocol.ts'
import { copyTo, openSnapshot, pickFrom, type SnapshotReader } from './snapshot-file.ts'
import { forget, forgetBuilding, forgetCollection, openStore, type Store, type Tables, tablesOf } from './store.ts'
import { clean, loadTerms, mergeWords } from './sweep.ts'
import { listedCount, listedPage } from './value-lists.ts'
import { type Job, openWorkLoop, type Units } from './work-loop.ts'

const ROWS_AT_ONCE = 100
const MOST_GROUPS_CACHED = 100

const port = parentPort!
let connection: Connection | undefined
let store: Store | undefined
let snapshot: SnapshotReader | undefined
let changes: Uint32Array | undefined
/** The position of each collection's numbers in `changes`. */
let offsets = new Map<string, number>()
const jobs = new Map<number, { isAborted: boolean; isLong: boolean }>()
const waitingForTerms = new Map<Tables, Array<() => void>>()

const opened = <Value>(value: Value | undefined): Value => {
  if (value === undefined) throw new Error('The index is not open')
  return value
}
const at = () => opened(store)
const loop = openWorkLoop(
  () => opened(connection),
  () => store && forget(store),
  noteChanges,
)

/**
 * Counts a change of each collection that the jobs write. @param jobs  default: one job that may write all collections
 */
function noteChanges(jobs: ReadonlyArray<Pick<Job, 'of'>> = [{ of: undefined }]): void {
  const isAny = jobs.some(({ of }) => of === undefined)
  const names = new Set(isAny ? offsets.keys() : jobs.map(({ of }) => of!))
  for (const name of names) {
    const offset = offsets.get(name)
    if (!changes || offset === undefined) continue
    Atomics.add(changes, offset, 1)
    if (isAny || store?.inColumns.has(name)) Atomics.add(changes, offset + 1, 1)
  }
}

const reads: { [Op in Read]: (args: Arguments<Op>) => Result<Op> } = {
  find({ name, query }) {
    const tables = tablesOf(at(), name)
    const found = tables.searcher.find(query)
    if (found) return toFound(found.rows, found.total)
    const { sql, pluck } = opened(connection)
    const { from = 0, size = 10 } = query
    const { layout, names } = tables
    if (query.ids) {
      const given = givenSql(layout, names, query.filter)
      const values = [JSON.stringify(query.ids), ...given.values]
      const page = `SELECT m.id ${given.text} ORDER BY j.key LIMIT ? OFFSET ?`
      const rows = sql<{ id: string }>(page).all(...values, size, from)
      const total = query.withoutTotal ? rows.length : pluck<number>(`SELECT count(*) ${given.text}`).get(...values)!
      return toFound(rows, total)
    }
    const matching = count(tables, query.filter, MAX_WINDOW + 1)
    const page =
      listedPage(opened(connection), layout, names, query) ?? pageSql(layout, names, query, isMost(tables, matching))
    const rows = sql<{ id: string }>(page.text).all(...page.values, size, from)
    return toFound(rows, query.withoutTotal ? rows.length : Math.min(matching, MAX_WINDOW))
  },
  count: ({ name, filter, cap }) => count(tablesOf(at(), name), filter, cap),
  aggregate({ name, query, zone }) {
    const { layout, names } = tablesOf(at(), name)
    const reading = opened(connection)
    const find = () => aggregate(reading, layout, names, query, zone)
    // Cached, because statistics are requested repeatedly.
    return reading.cached(JSON.stringify([names.main, query, zone]), find, (rows) => rows.length <= MOST_GROUPS_CACHED)
  },
  similar({ name, id, query }) {
    const tables = tablesOf(at(), name)
    const rid = opened(connection).pluck<number>(`SELECT rid FROM "${tables.names.main}" WHERE id = ?`).get(id)
    const self = rid === undefined ? undefined : tables.writer.readRow(rid)
    if (rid === undefined || !self?.doc) return { ids: [], scores: [], total: 0 }
    const rows = tables.searcher.similar({ rid, doc: self.doc }, query)
    return toFound(rows, rows.length)
  },
  page({ name, filter, order, after, size }) {
    const { layout, names } = tablesOf(at(), name)
    const where = whereSql(layout, names, filter)
    const key = order === 'id' ? 'id' : 'rid'
    const rows = opened(connection)
      .sql<{ rid: number; id: string }>(
        `SELECT m.rid, m.id FROM "${names.main}" m${where.text || ' WHERE 1'} AND m.${key} > ? ORDER BY m.${key} LIMIT ?`,
      )
      .all(...where.values, after ?? (order === 'id' ? '' : -1), size)
    return { rids: rows.map(({ rid }) => rid), at: rows.length < size ? undefined : rows.at(-1)![key] }
  },
  parts({ name, after, size, ...query }) {
    const { layout, names } = tablesOf(at(), name)
    const { text, values } = partsSql(layout, names, query)
    return opened(connection)
      .sql(text)
      .raw()
      .all(...values, after, size) as PartRow[]
  },
  garbled({ name, after }) {
    const { layout, names } = tablesOf(at(), name)
    const { join, isSound } = docsOf(layout, names)
    const rows = opened(connection)
      .sql<{ rid: number; id: string; isSound: 0 | 1 }>(
        `SELECT m.rid, m.id, ${isSound} AS isSound FROM "${names.main}" m${join} WHERE m.rid > ? ORDER BY m.rid LIMIT ?`,
      )
      .all(after, ROWS_AT_ONCE)
    return {
      ids: rows.flatMap(({ id, isSound }) => (isSound ? [] : [id])),
      at: rows.length < ROWS_AT_ONCE ? undefined : rows.at(-1)!.rid,
    }
  },
  snapshotOpen: ({ path }) =>
    ofSnapshot(() => {
      snapshot?.close()
      snapshot = openSnapshot(path)
      return snapshot.collections
    }),
  snapshotRead: ({ name, after }) => ofSnapshot(() => opened(snapshot).read(name, after)),
  snapshotClose() {
    snapshot?.close()
    snapshot = undefined
    return null
  },
  snapshotPick: ({ path, name, ids }) => ofSnapshot(() => pickFrom(path, name, ids)),
  relax() {
    opened(connection).relax()
    globalThis.gc?.()
    return null
  },
}

/** Prevents damage to a snapshot from counting as damage to the index, which the next start would move aside. */
function ofSnapshot<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (!isDamage(error)) throw error
    throw Object.assign(new Refusal('The snapshot is damaged', { cause: error }), { code: 'unprocessable' })
  }
}

function count({ layout, names }: Tables, filter: Filter | undefined, cap: number): number {
  const reader = opened(connection)
  const { text, values } = listedCount(reader, layout, names, filter, cap) ?? countSql(layout, names, filter, cap)
  return reader.count(text, values)
}

/** Whether a filter matches most rows, or so many that sorting the matches takes longer than skipping other rows. */
const isMost = (tables: Tables, matching: number): boolean =>
  matching > MAX_WINDOW || 2 * matching > count(tables, undefined, 2 * matching + 1)

const toFound = (rows: ReadonlyArray<{ id: string; score?: number }>, total: number): FoundRows => ({
  ids: rows.map(({ id }) => id),
  scores: rows.map(({ score = 0 }) => score),
  total,
})

/** Wraps work that cannot be interrupted. */
function* once<Value>(work: () => Value): Units<Value> {
  return work()
}

const writes: { [Op in Write]: (args: Arguments<Op>) => Units<Result<Op>> } = {
  put: ({ name, docs, isStaged = false, onlyNew = false }) => putAll(name, docs, isStaged, onlyNew),
  patch: ({ name, id, change }) => once(() => patchOne(tablesOf(at(), name), id, JSON.parse(change))),
  create: ({ name }) => once(() => create(at(), name)),
  arrange: ({ name }) => arrange(at(), name),
  addFields: ({ name }) => once(() => (addFields(at(), name), null)),
  fill: ({ name }) => fill(at(), name),
  rebuildBegin: ({ name }) => once(() => rebuildBegin(at(), name)),
  rebuild: ({ name }) => rebuild(at(), name),
  rebuildRead: ({ name }) => once(() => rebuildRead(at(), name)),
  rebuildWrite: ({ name, docs, last }) => once(() => rebuildWrite(at(), name, docs, last)),
  rebuildEnd: ({ name }) => rebuildEnd(at(), name),
  discard: ({ name }) => once(() => (forgetBuilding(at(), name), null)),
  forget: ({ name }) => once(() => (forgetCollection(at(), name), null)),
  replaceBegin: () => once(() => (replaceBegin(at()), null)),
  replaceEnd: () => replaceEnd(at()),
  replaceAbort: () => once(() => (replaceAbort(at()), null)),
  // The generation is stored in the header of the file, without a table.
  keepGeneration: ({ generation }) => once(() => (opened(connection).db.pragma(`user_version = ${generation}`), null)),
  remove: ({ name, ids }) => removeAll(name, ids),
  patchWhere: ({ name, filter, change }) => patchWhere(name, filter, JSON.parse(change)),
  removeWhere: ({ name, filter }) => removeWhere(name, filter),
  clean: () => clean(at()),
  merge: () => mergeWords(at()),
}

function* putAll(name: string, docs: readonly IdText[], isStaged: boolean, onlyNew: boolean): Units<Result<'put'>> {
  const { writer } = tablesOf(at(), name, isStaged)
  const failed: BulkResult['failed'] = []
  const kept: string[] = []
  let done = 0
  for (const [id, text] of docs) {
    try {
      // With `onlyNew`, a damaged document is replaced nevertheless: no patch could change it.
      if (onlyNew && writer.read(id)) kept.push(id)
      else writer.put(id, JSON.parse(text) as JsonObject)
    } catch (error) {
      if (!(error instanceof WrongType)) throw error
      failed.push({ id, reason: `${name} ${id}: ${error.message}` })
    }
    yield ++done
  }
  return { failed, kept }
}

function patchOne({ layout, writer }: Tables, id: string, change: Change<Record<string, unknown>>): boolean {
  const doc = writer.read(id)
  if (!doc) return false
  try {
    writer.put(id, applyChange(layout.plans, layout.data.keys, doc, change))
  } catch (error) {
    if (error instanceof WrongType) error.message = `${layout.data.name} ${id}: ${error.message}`
    throw error
  }
  return true
}

function* removeAll(name: string, ids: readonly string[]): Units<number> {
  let removed = 0
  for (const id of ids) {
    if (tablesOf(at(), name).writer.remove(id)) removed++
    yield removed
  }
  return removed
}

function* patchWhere(name: string, filter: Filter, change: Change<Record<string, unknown>>): Units<number> {
  const matches = matching(name, filter)
  let matched = 0
  let after = -1
  for (;;) {
    const tables = tablesOf(at(), name)
    const { text, values } = filterSql(tables.layout, tables.names, filter)
    const rows = opened(connection)
      .sql<{ rid: number; id: string }>(
        `SELECT m.rid, m.id FROM "${tables.names.main}" m WHERE (${text}) AND m.rid > ? ORDER BY m.rid LIMIT ?`,
      )
      .all(...values, after, ROWS_AT_ONCE)
    for (const { rid, id } of rows) {
      after = rid
      if (matches(id) && patchOne(tablesOf(at(), name), id, change)) matched++
      yield matched
    }
    if (rows.length < ROWS_AT_ONCE) return matched
  }
}

function* removeWhere(name: string, filter: Filter): Units<number> {
  const matches = matching(name, filter)
  let removed = 0
  for (;;) {
    const { layout, names } = tablesOf(at(), name)
    const { text, values } = filterSql(layout, names, filter)
    const ids = opened(connection)
      .pluck<string>(`SELECT m.id FROM "${names.main}" m WHERE ${text} LIMIT ?`)
      .all(...values, ROWS_AT_ONCE)
    if (ids.length === 0) return removed
    for (const id of ids) {
      if (matches(id) && tablesOf(at(), name).writer.remove(id)) removed++
      yield removed
    }
  }
}

/**
 * Tests a listed document again, because it may have changed between two steps. The query is built only once, because
 * building it takes longer than running it.
 */
function matching(name: string, filter: Filter): (id: string) => boolean {
  let of: Tables | undefined
  let question = ''
  let values: readonly Bind[] = []
  return (id) => {
    const tables = tablesOf(at(), name)
    if (tables !== of) {
      const selected = filterSql(tables.layout, tables.names, filter)
      of = tables
      question = `SELECT 1 FROM "${tables.names.main}" m WHERE m.id = ? AND (${selected.text})`
      values = selected.values
    }
    return (
      opened(connection)
        .pluck(question)
        .get(id, ...values) !== undefined
    )
  }
}

const send = (response: Response) => port.postMessage([response])

function fail(id: number, error: unknown, tell = send): void {
  jobs.delete(id)
  const known = error instanceof Error ? error : new Error(String(error))
  const code = isDamage(error)
    ? 'damaged'
    : known instanceof WrongType
      ? 'unprocessable'
      : 'code' in known
        ? String(known.code)
        : known.name
  tell({ id, failure: { code, message: known.message, stack: known.stack } })
}

function answer(id: number, work: () => unknown, tell = send): void {
  let result: unknown
  try {
    result = work()
  } catch (error) {
    return fail(id, error, tell)
  }
  tell({ id, result })
}

function enqueue({ id, op, args }: WriteRequest): void {
  const rule = RULES[op]
  const toUnits = writes[op] as (args: unknown) => Units
  const isLong = rule.kind === 'long'
  const job: Job & { isLong: boolean } = {
    isLong,
    of: args !== null && 'name' in args ? args.name : undefined,
    units: toUnits(args),
    durable: (op === 'put' && args.durable) || rule.durable,
    isAborted: false,
    progress: (done) => send({ id, done, total: 0 }),
    resolve(result) {
      jobs.delete(id)
      send({ id, result })
    },
    reject: (error) => fail(id, error),
  }
  jobs.set(id, job)
  if (isLong || (op === 'put' && args.isStaged)) loop.long(job)
  else loop.write(job)
}

/** Fuzzy words need the vocabulary, which is read in steps at the first use; the search waits for it. */
function whenTermsAreRead(tables: Tables, work: () => void): void {
  const { terms } = tables
  if (terms.state === 'read') return loop.read(work)
  const waiting = waitingForTerms.get(tables)
  if (waiting) {
    waiting.push(work)
    return
  }
  waitingForTerms.set(tables, [work])
  const proceed = () => {
    for (const each of waitingForTerms.get(tables) ?? []) loop.read(each)
    waitingForTerms.delete(tables)
  }
  loop.long({
    of: undefined,
    units: loadTerms(at(), tables),
    durable: 'later',
    isAborted: false,
    resolve: proceed,
    reject: proceed,
  })
}

/** Answers the reads of one message with one message: a search in several collections waits for all of them anyway. */
function receiveAll(requests: Request[]): void {
  const responses: Response[] = []
  const reads = requests.filter((request) => !('abort' in request) && isOf('read', request)).length
  const tell = (response: Response) => {
    if (responses.push(response) === reads) port.postMessage(responses)
  }
  for (const request of requests) receive(request, tell)
}

function receive(request: Request, tellRead: typeof send): void {
  if ('abort' in request) {
    const job = jobs.get(request.abort)
    if (job) job.isAborted = true
    return
  }
  if (isOf('control', request)) {
    const start = controls[request.op] as (id: number, args: unknown) => void
    return start(request.id, request.args)
  }
  if (isOf('read', request)) return enqueueRead(request, tellRead)
  enqueue(request as WriteRequest)
}

type Asked = Exclude<Request, { abort: number }>
type ReadRequest = Extract<Asked, { op: Read }>
type WriteRequest = Extract<Asked, { op: Write }>

const isOf = <Kind extends 'control' | 'read'>(
  kind: Kind,
  request: Asked,
): request is Extract<Asked, { op: Kind extends 'read' ? Read : Control }> => RULES[request.op].kind === kind

function enqueueRead(request: ReadRequest, tell: typeof send): void {
  const read = reads[request.op] as (args: unknown) => unknown
  const work = () => answer(request.id, () => opened(connection).together(() => read(request.args)), tell)
  const isFuzzy = request.op === 'find' && (request.args.query.text?.fuzziness ?? 0) !== 0
  const tables = isFuzzy ? store && tablesOf(store, request.args.name) : undefined
  if (tables && tables.layout.searched.length > 0) whenTermsAreRead(tables, work)
  else loop.read(work)
}

const controls: { [Op in Control]: (id: number, args: Arguments<Op>) => void } = {
  open: (id, args) => answer(id, () => open(args)),
  snapshot: (id, { path }) => void takeSnapshot(id, path),
  close: (id) => void close(id),
}

function open({ file, definitions, changes: counted }: Arguments<'open'>): Result<'open'> {
  const opening = connect(file, { isReader: false })
  try {
    store = openStore(opening, definitions, (callback) => loop.afterCommit(callback))
  } catch (error) {
    opening.close()
    throw error
  }
  connection = opening
  changes = counted
  offsets = new Map(definitions.map(({ name }, at) => [name, at * CHANGES_OF_ONE]))
  noteChanges() // an earlier worker may have ended during a commit
  return { version: opening.pluck<string>('SELECT sqlite_version()').get()!, collections: store.states }
}

let copying: Promise<void> = Promise.resolve()
/** The handle for copying, opened for the first copy. */
let source: FileHandle | undefined

/** One copy at a time: two would only compete for the disk. */
async function takeSnapshot(id: number, path: string): Promise<void> {
  const job = { isAborted: false, isLong: true }
  jobs.set(id, job)
  copying = copying.then(async () => {
    try {
      const { db } = opened(connection)
      source ??= await openFile(db.name, 'r')
      await copyTo(
        db,
        source,
        path,
        () => job.isAborted,
        (done, total) => send({ id, done, total }),
      )
      jobs.delete(id)
      send({ id, result: null })
    } catch (error) {
      fail(id, error)
    }
  })
}

async function close(id: number): Promise<void> {
  // Pending writes are finished. Long work stops where it is, and is continued after the next start.
  for (const job of jobs.values()) if (job.isLong) job.isAborted = true
  await copying
  await loop.idle()
  snapshot?.close()
  connection?.close()
  await source?.close()
  connection = undefined
  source = undefined
  store = undefined
  snapshot = undefined
  jobs.clear()
  waitingForTerms.clear()
  send({ id, result: null })
}

port.on('message', receiveAll)
