/**
 * Documents whose stored text is no JSON any more, such as after a bit has flipped: reads leave them out, whoever looks
 * after the archive hears of them, and nobody else's document suffers.
 */
import type { Log } from '../log.ts'

const MOST_KNOWN = 10_000

export interface GarbledDocument {
  collection: string
  id: string
}

/** What an adapter tells of each garbled document that it meets, however often. */
export type OnGarbled = (collection: string, id: string) => void

export interface Garbled {
  /** Those that were met since the start and are not whole again. */
  list(): GarbledDocument[]
  /** Whole again, or gone. */
  settle(document: GarbledDocument): void
  /** Called for each that is met for the first time. One listener: what was met before it came, it is told at once. */
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
      log.error(document, 'a stored document is damaged: its text is no JSON. It is left out until it is mended')
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
