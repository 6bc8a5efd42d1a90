/** Reads count as sources of the reply that is being made (`core/sources.ts`), and are timed for subscribers. */
import { type QuestionTold, questions } from '../diagnostics.ts'
import { noteRead, type Source, UNKNOWN } from '../sources.ts'
import { type IndexAdapter, READS, WRITES } from './port.ts'
import { type AnyCollection, withOperations, wrapCollections } from './wrap.ts'

/** All but streams, which last as long as their caller likes. */
const TIMED = [...READS, ...WRITES].filter((name) => name !== 'scan' && name !== 'parts')

export const observed = (index: IndexAdapter, settings: object): IndexAdapter =>
  wrapCollections(index, (plain) => noted(timed(plain, settings), sourceOf(index, plain.definition.name)))

function sourceOf(index: IndexAdapter, name: string): Source {
  if (!index.versionOf) return UNKNOWN
  return {
    get version() {
      return index.versionOf!(name)
    },
  }
}

const noted = (plain: AnyCollection, source: Source): AnyCollection =>
  withOperations(plain, READS, (read) => (...given) => {
    noteRead(source)
    return read(...given)
  })

const timed = (plain: AnyCollection, settings: object): AnyCollection =>
  withOperations(plain, TIMED, (ask, operation) => (...given) => {
    if (!questions.hasSubscribers) return ask(...given)
    const startedAt = performance.now()
    return (ask(...given) as Promise<unknown>).finally(() => {
      const seconds = (performance.now() - startedAt) / 1000
      questions.publish({ settings, collection: plain.definition.name, operation, seconds } satisfies QuestionTold)
    })
  })
