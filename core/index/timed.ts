/** Measures how long each index operation takes, if somebody subscribes (`core/diagnostics.ts`). */
import { type QuestionTold, questions } from '../diagnostics.ts'
import type { IndexDefinition } from './mapping.ts'
import { type Collection, type IndexAdapter, READS, WRITES } from './port.ts'

/** All but streams, which last as long as their caller likes. */
const OPERATIONS = [...READS, ...WRITES].filter((operation) => operation !== 'scan' && operation !== 'parts')

type AnyCollection = Collection<Record<string, unknown>, string>
type Question = (...given: unknown[]) => Promise<unknown>

export function timed(index: IndexAdapter, settings: object): IndexAdapter {
  const collections = new Map<string, AnyCollection>()
  const collection = (definition: IndexDefinition): AnyCollection => {
    let known = collections.get(definition.name)
    if (!known) {
      // All collections are timed alike, whatever their document type.
      known = timedCollection(index.collection(definition) as unknown as AnyCollection, settings)
      collections.set(definition.name, known)
    }
    return known
  }
  return { ...index, collection: collection as IndexAdapter['collection'] }
}

function timedCollection(plain: AnyCollection, settings: object): AnyCollection {
  const { name } = plain.definition
  // Operations are accessed by name.
  const asked = plain as unknown as Record<string, Question>
  const timedQuestion = (operation: string): Question => {
    const ask = asked[operation]!
    return (...given) => {
      if (!questions.hasSubscribers) return ask(...given)
      const startedAt = performance.now()
      return ask(...given).finally(() => {
        const seconds = (performance.now() - startedAt) / 1000
        questions.publish({ settings, collection: name, operation, seconds } satisfies QuestionTold)
      })
    }
  }
  return {
    ...plain,
    ...Object.fromEntries(OPERATIONS.map((operation) => [operation, timedQuestion(operation)])),
  }
}
