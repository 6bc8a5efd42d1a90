/**
 * Words and lines that many descriptions of this archive have in common. In a long text, a single character replaces
 * each of them, which makes the compressed text a third smaller: compression of a single description cannot know the
 * words of its archive.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { App } from './app.ts'

export const dictionaryTable = {
  number: 3,
  sql: `CREATE TABLE history_dictionary (
    id INTEGER PRIMARY KEY,
    -- JSON
    pieces TEXT NOT NULL,
    -- how many videos there were when it was made
    videos INTEGER NOT NULL
  ) STRICT;
  -- that before was written with; NULL: none
  ALTER TABLE history_change ADD COLUMN dictionary INTEGER`,
}

/** Minimum number of videos: a smaller archive has little to store. */
const LEAST_VIDEOS = 1000
/**
 * The archive gets a new dictionary whenever it has grown by this factor, because its topics change. Rows continue to
 * use the dictionary that they were written with.
 */
const GROWN = 10
const DESCRIPTIONS = 600
const AT_ONCE = 20
/** First of Unicode's private characters, each of which stands for one piece. */
const FIRST = 0xe000
const MOST_PIECES = 6400
const PRIVATE = /[\ue000-\uf8ff]/g

export type Dictionary = ReturnType<typeof openDictionary>

export function openDictionaries({ ledger }: Pick<App, 'ledger'>) {
  const { sql } = ledger
  const opened = new Map<number, Dictionary>()

  /** @throws if the dictionary is missing */
  function get(id: number): Dictionary {
    const known = opened.get(id)
    if (known) return known
    const { pieces } = sql<{ pieces: string }>('SELECT pieces FROM history_dictionary WHERE id = ?').get(id)!
    const found = openDictionary(id, ledger.json<string[]>(pieces, `history_dictionary ${id}`, []))
    opened.set(id, found)
    return found
  }

  const last = () =>
    sql<{ id: number; videos: number }>('SELECT id, videos FROM history_dictionary ORDER BY id DESC LIMIT 1').get()

  return {
    get,

    newest(): Dictionary | undefined {
      const id = last()?.id
      return id === undefined ? undefined : get(id)
    },

    isDue: (videos: number): boolean => videos >= LEAST_VIDEOS && videos >= GROWN * (last()?.videos ?? 0),

    /** Call inside `ledger.write`. */
    add: (pieces: readonly string[], videos: number): void =>
      void sql('INSERT INTO history_dictionary (pieces, videos) VALUES (?, ?)').run(JSON.stringify(pieces), videos),
  }
}

const linesOf = (text: string): string[] => text.split(/(?<=\\n)/)
const wordsOf = (text: string): string[] => text.split(/(?<= |\\n)/)

function openDictionary(id: number, pieces: readonly string[]) {
  const signs = new Map(pieces.map((piece, at) => [piece, String.fromCharCode(FIRST + at)]))
  return {
    id,
    /** @param text  JSON @returns undefined: the text itself contains private characters */
    encode: (text: string): string | undefined =>
      text.search(PRIVATE) >= 0
        ? undefined
        : linesOf(text)
            .map(
              (line) =>
                signs.get(line) ??
                wordsOf(line)
                  .map((word) => signs.get(word) ?? word)
                  .join(''),
            )
            .join(''),
    decode: (text: string): string => text.replace(PRIVATE, (sign) => pieces[sign.charCodeAt(0) - FIRST] ?? ''),
  }
}

/** Makes a new dictionary if the archive has grown. */
export async function makeDictionary(app: App, signal: AbortSignal): Promise<void> {
  const { dictionaries } = app.history.rows
  const videos = await app.videos.collection.count()
  if (!dictionaries.isDue(videos)) return
  const counts = new Map<string, number>()
  let read = 0
  for await (const batch of app.videos.collection.scan({ batch: AT_ONCE })) {
    signal.throwIfAborted()
    for (const { doc } of batch) {
      const text = JSON.stringify(doc.description).slice(1, -1)
      for (const piece of new Set([...linesOf(text), ...wordsOf(text)])) counts.set(piece, (counts.get(piece) ?? 0) + 1)
    }
    read += batch.length
    if (read >= DESCRIPTIONS) break
    await nextTurn()
  }
  const pieces = mostUseful(counts)
  await app.ledger.write(() => dictionaries.add(pieces, videos))
}

function mostUseful(counts: ReadonlyMap<string, number>): string[] {
  const gain = ([piece, count]: [string, number]): number => (count - 1) * (piece.length - 1)
  return [...counts]
    .filter((one) => gain(one) > 0)
    .sort((one, other) => gain(other) - gain(one))
    .slice(0, MOST_PIECES)
    .map(([piece]) => piece)
}
