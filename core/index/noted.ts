/** Notes the reads of each collection as sources of the reply that is being made (`core/sources.ts`). */
import { noteRead, type Source, UNKNOWN } from '../sources.ts'
import type { IndexDefinition } from './mapping.ts'
import { type Collection, type IndexAdapter, READS } from './port.ts'

type AnyCollection = Collection<Record<string, unknown>, string>
type Read = (...given: unknown[]) => unknown

export function noteReads(index: IndexAdapter): IndexAdapter {
  const collections = new Map<string, AnyCollection>()
  const collection = (definition: IndexDefinition): AnyCollection => {
    let known = collections.get(definition.name)
    if (!known) {
      // Reads are noted alike for all document types.
      known = noted(index.collection(definition) as unknown as AnyCollection, sourceOf(index, definition.name))
      collections.set(definition.name, known)
    }
    return known
  }
  return { ...index, collection: collection as IndexAdapter['collection'] }
}

function sourceOf(index: IndexAdapter, name: string): Source {
  if (!index.versionOf) return UNKNOWN
  return {
    get version() {
      return index.versionOf!(name)
    },
  }
}

function noted(plain: AnyCollection, source: Source): AnyCollection {
  // Reads are accessed by name.
  const reads = plain as unknown as Record<string, Read>
  const notedRead = (name: string): Read => {
    const read = reads[name]!
    return (...given) => {
      noteRead(source)
      return read(...given)
    }
  }
  return {
    ...plain,
    ...Object.fromEntries(READS.map((name) => [name, notedRead(name)])),
  }
}
