/**
 * A small index for the tests beside; run as a program it begins something and ends itself in the middle, as a power
 * cut would.
 */
import { join } from 'node:path'
import { Type } from 'typebox'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { defineIndex, type IndexDefinition } from '../../../core/index/mapping.ts'
import { openLog } from '../../../core/log.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'

export const bookIndex = defineIndex({
  name: 'book',
  newest: 'addedAt',
  doc: Type.Object({
    title: Type.String(),
    subtitle: Type.String(),
    year: Type.Integer(),
    marks: Type.Array(Type.String()),
    addedAt: Type.Integer(),
    owner: Type.String(),
  }),
  fields: {
    title: { type: 'text', search: 1, sort: true },
    addedAt: { type: 'date', filter: true, sort: true },
    owner: { type: 'keyword', filter: true, internal: true },
  },
})

export const bookOf = (at: number) => ({
  id: `b${String(at).padStart(3, '0')}`,
  doc: {
    title: `Number ${at}`,
    subtitle: `Subtitle ${at}`,
    year: 1900 + (at % 100),
    marks: [`m${at % 2}`],
    addedAt: at,
    owner: 'me',
  },
})

export function openBooks(
  folder: string,
  definitions: readonly IndexDefinition[] = [bookIndex],
  clock: Clock = systemClock,
  onLine?: () => void,
) {
  const log = onLine ? openLog('info', { write: onLine }) : openLog('silent')
  return openSqliteIndex({ file: join(folder, 'index.sqlite'), definitions, log, clock })
}

const [what, folder] = process.argv.slice(2)
if (folder !== undefined && import.meta.url === `file://${process.argv[1]}`) {
  const die = () => process.kill(process.pid, 'SIGKILL')
  if (what === 'replace') {
    const index = await openBooks(folder)
    await index.replaceAll(async (write) => {
      await write(
        'book',
        Array.from({ length: 300 }, (_, at) => ({ id: `new${at}`, doc: { ...bookOf(at).doc, title: 'New' } })),
      )
      die()
    })
  } else if (what === 'write') {
    const books = (await openBooks(folder)).collection(bookIndex)
    await books.putMany(Array.from({ length: 332 }, (_, at) => bookOf(at)))
    await books.put('b332', bookOf(332).doc)
    die()
  } else {
    const year = { type: 'long' as const, filter: true, ...(what === 'rebuild' ? { search: 1 } : {}) }
    // A clock that leaps makes each report of progress a line of the log; the third ends everything.
    let now = 0
    let lines = 0
    const leaping: Clock = { ...systemClock, steady: () => (now += 10_000) }
    await openBooks(folder, [defineIndex({ ...bookIndex, fields: { ...bookIndex.fields, year } })], leaping, () =>
      ++lines === 3 ? die() : undefined,
    )
  }
}
