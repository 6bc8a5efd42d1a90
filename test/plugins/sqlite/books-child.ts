/** Starts an operation on a small index and kills itself halfway, as a power failure would: `<what> <folder>`. */
import { type Clock, systemClock } from '../../../core/base/clock.ts'
import { defineIndex } from '../../../core/index/mapping.ts'
import { bookIndex, bookOf, openBooks } from './books.ts'
import { lineIndex, storedIn } from './lines.ts'

const [what, folder = ''] = process.argv.slice(2)
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
} else if (what === 'pack') {
  await openBooks(folder, [lineIndex])
  const before = storedIn(folder)
  const look = () => {
    const { texts, columns } = storedIn(folder)
    if (texts === 0 || columns > before.columns) die()
    else setImmediate(look)
  }
  look()
} else {
  const year = { type: 'long' as const, filter: true, ...(what === 'rebuild' ? { search: 1 } : {}) }
  // A clock that jumps makes each progress report a line of the log; the third one ends the process.
  let now = 0
  let lines = 0
  const leaping: Clock = { ...systemClock, steady: () => (now += 10_000) }
  await openBooks(folder, [defineIndex({ ...bookIndex, fields: { ...bookIndex.fields, year } })], leaping, () =>
    ++lines === 3 ? die() : undefined,
  )
}
