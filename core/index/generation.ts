/** Ledger and index store a number that grows at each start and copy: the lower one belongs to an older copy. */
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { Index } from './port.ts'
import { waitAtBarrier } from './write-barrier.ts'

export type Generation = Awaited<ReturnType<typeof openGeneration>>

interface Row {
  number: number
  next: number | null
}

interface GenerationParts {
  ledger: Ledger
  index: Pick<Index, 'generation' | 'lost'>
  log: Log
}

/** Makes a recovered ledger count as older than any index, until listeners have been told. */
export const forgetGeneration = (ledger: Pick<Ledger, 'sql' | 'write'>): Promise<void> =>
  ledger.write(() => void ledger.sql('UPDATE generation SET number = 0, next = NULL').run())

const rowOf = ({ sql }: Pick<Ledger, 'sql'>): Row => sql<Row>('SELECT number, next FROM generation').get()!

export async function openGeneration({ ledger, index, log }: GenerationParts) {
  const { generation } = index
  const closing = new AbortController()
  const patiently = <Result>(work: () => Promise<Result>) => waitAtBarrier(closing.signal, work)
  let isIn = Promise.resolve()

  async function older(): Promise<'ledger' | 'index' | undefined> {
    if (!generation) return undefined
    const { number, next } = rowOf(ledger)
    const there = await patiently(generation.read)
    if (there === number || there === next) return undefined
    if (there > number) return 'ledger'
    // An index without a number is new, or it was lost, which is reported elsewhere.
    return there > 0 && index.lost === undefined ? 'index' : undefined
  }

  async function toNext(): Promise<void> {
    if (!generation || closing.signal.aborted) return
    const there = await generation.read()
    const number = Math.max(there, rowOf(ledger).number) + 1
    // After a crash between any of the three writes, the index number still equals `number` or `next`.
    await ledger.write(() => void ledger.sql('UPDATE generation SET next = ?').run(number))
    await generation.keep(number)
    await ledger.write(() => void ledger.sql('UPDATE generation SET number = ?, next = NULL').run(number))
  }

  return {
    /** Which of the two this start found to be older. */
    older: await older(),
    /** Gives both the next number: once listeners have been told of a difference, and after each copy of the ledger. */
    advance(): Promise<void> {
      isIn = isIn.then(() =>
        patiently(toNext).catch((err: unknown) => {
          if (!closing.signal.aborted)
            log.warn({ err }, 'the generation of ledger and index could not be advanced; the next start tries again')
        }),
      )
      return isIn
    },
    async close(): Promise<void> {
      closing.abort()
      await isIn
    },
  }
}
