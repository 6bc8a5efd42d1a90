/** Documents whose text is no longer JSON, as after a flipped bit: reads report them and leave them out. */
import type { Log } from '../log.ts'

const MOST_KNOWN = 10_000

export interface GarbledDocument {
  collection: string
  id: string
}

/** Called by an adapter for each garbled document that it reads, even repeatedly. */
export type OnGarbled = (collection: string, id: string) => void

export interface Garbled {
  /** The documents found garbled since the start and not repaired yet. */
  list(): GarbledDocument[]
  /** Marks a document as repaired or removed. */
  settle(document: GarbledDocument): void
  /** Calls the listener for each newly found document, and at once for those found before. Only one listener. */
  watch(listener: (document: GarbledDocument) => void): void
}

export function openGarbled(log: Log): { garbled: Garbled; onGarbled: OnGarbled } {
  const known = new Map<string, GarbledDocument>()
  let tell: ((document: GarbledDocument) => void) | undefined
  const keyOf = ({ collection, id }: GarbledDocument): string => `${collection} ${id}`
  return {
    onGarbled(collection, id) {
      const document = { collection, id }
      if (known.has(keyOf(document)) || known.size >= MOST_KNOWN) return
      known.set(keyOf(document), document)
      log.error(document, 'a stored document is damaged (its text is not JSON) and is left out until it is repaired')
      tell?.(document)
    },
    garbled: {
      list: () => [...known.values()],
      settle: (document) => void known.delete(keyOf(document)),
      watch(listener) {
        tell = listener
        for (const document of known.values()) listener(document)
      },
    },
  }
}
