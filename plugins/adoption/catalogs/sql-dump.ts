/** Reads a dump made by mysqldump as a stream: it parses the INSERT statements and executes nothing. */
import type { Readable } from 'node:stream'
import { reportAlive } from '../../film-kit/heartbeat.ts'
import { NoCatalog } from './types.ts'

interface DumpRow {
  table: string
  row: Record<string, string | null>
}

/** The limit of one row in characters, enough for long descriptions. */
const MOST_ROW_CHARS = 4 << 20
const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '0': '\0', Z: '\x1a', b: '\b' }

/** Yields the rows of these tables. A line end does not end a statement, because descriptions contain line ends too. */
export async function* rowsOfDump(stream: Readable, tables: ReadonlySet<string>): AsyncGenerator<DumpRow> {
  stream.setEncoding('utf8')
  const columns = new Map<string, string[]>()
  let text = ''
  let table: string | undefined
  /** The position where the next row is searched. */
  let at = 0
  try {
    for await (const piece of stream) {
      reportAlive()
      text = text.slice(at) + (piece as string)
      at = 0
      for (;;) {
        if (table === undefined) {
          const found = nextStatement(text, at)
          if (!found) {
            // The last line may be the beginning of a statement.
            at = Math.max(at, text.lastIndexOf('\n') + 1)
            break
          }
          if (found === 'cut') break
          at = found.end
          if (found.kind === 'create') columns.set(found.table, found.columns)
          else if (tables.has(found.table) && columns.has(found.table)) table = found.table
          continue
        }
        const row = nextRow(text, at)
        if (row === 'cut') break
        if (!row) {
          table = undefined
          continue
        }
        at = row.end
        yield { table, row: Object.fromEntries(columns.get(table)!.map((name, n) => [name, row.values[n] ?? null])) }
      }
      if (text.length - at > MOST_ROW_CHARS) throw new NoCatalog('A row of the dump is too long')
    }
  } finally {
    stream.destroy()
  }
}

type Statement =
  | { kind: 'create'; table: string; columns: string[]; end: number }
  | { kind: 'insert'; table: string; end: number }

const STATEMENT =
  /^(?:CREATE TABLE(?: IF NOT EXISTS)? `(\w{1,64})` \(|INSERT (?:IGNORE )?INTO `(\w{1,64})`(?: \(([^)]*)\))? VALUES ?)/gm

function nextStatement(text: string, from: number): Statement | 'cut' | undefined {
  STATEMENT.lastIndex = from
  const found = STATEMENT.exec(text)
  if (!found) return undefined
  const [whole, created, filled] = found
  if (filled !== undefined) return { kind: 'insert', table: filled, end: found.index + whole.length }
  const end = text.indexOf('\n)', found.index)
  if (end < 0) return 'cut'
  const body = text.slice(found.index + whole.length, end)
  return {
    kind: 'create',
    table: created!,
    columns: [...body.matchAll(/^ {1,8}`(\w{1,64})` /gm)].map(([, name]) => name!),
    end,
  }
}

/** @returns undefined: the statement has no more rows */
function nextRow(text: string, from: number): { values: (string | null)[]; end: number } | 'cut' | undefined {
  let at = from
  while (at < text.length && /[\s,]/.test(text[at]!)) at++
  if (at >= text.length) return 'cut'
  if (text[at] !== '(') return undefined
  const values: (string | null)[] = []
  for (at++; at < text.length; ) {
    const value = text[at] === "'" ? quoted(text, at) : bare(text, at)
    if (value === 'cut') return 'cut'
    values.push(value.value)
    at = value.end
    if (at >= text.length) return 'cut'
    if (text[at] === ')') return { values, end: at + 1 }
    if (text[at] !== ',') throw new NoCatalog('The dump cannot be read')
    at++
  }
  return 'cut'
}

function bare(text: string, from: number): { value: string | null; end: number } | 'cut' {
  let end = from
  while (end < text.length && text[end] !== ',' && text[end] !== ')') end++
  if (end >= text.length) return 'cut'
  const value = text.slice(from, end).trim()
  return { value: value === 'NULL' ? null : value, end }
}

function quoted(text: string, from: number): { value: string; end: number } | 'cut' {
  let value = ''
  let at = from + 1
  for (;;) {
    const stop = nextOf(text, at)
    if (stop < 0 || stop + 1 >= text.length) return 'cut'
    value += text.slice(at, stop)
    const next = text[stop + 1]!
    if (text[stop] === '\\') value += ESCAPES[next] ?? next
    else if (next === "'") value += "'"
    else return { value, end: stop + 1 }
    at = stop + 2
  }
}

/** The position of the next quote or escape. */
function nextOf(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (text[at] === "'" || text[at] === '\\') return at
  return -1
}
