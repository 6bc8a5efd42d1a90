/** The readers of places, all from the hook `library.reader`: those of this plugin, and those of other plugins. */
import { errors, say } from 'archivolt'
import type { PlaceReader } from '../library/reader.ts'
import type { App } from './app.ts'
import { CATALOG_KINDS } from './catalogs/all.ts'
import { ytdlpReader } from './ytdlp.ts'

/** Lower than the default: readers of other plugins win if two are equally sure. */
const priority = -1

/**
 * The readers of this plugin, in the order of their priority. Folders of programs with a catalog are like those of
 * yt-dlp, and the catalog adds data.
 */
export const ownReaders: readonly PlaceReader[] = [
  { ...ytdlpReader, priority },
  ...CATALOG_KINDS.map(({ name, title, recognise = () => 0 }) => ({
    ...ytdlpReader,
    name,
    title,
    recognise,
    priority,
  })),
]

/** All readers by priority; readers of the same priority stay in the order of their plugins. */
export const readersOf = (app: App): readonly PlaceReader[] =>
  app
    .hook('library.reader')
    .flat()
    .toSorted((one, other) => (other.priority ?? 0) - (one.priority ?? 0))

/** Catalogs are read in the reading child, which contains no code of other plugins: no other reader has one. */
export const hasCatalog = (reader: string): boolean => CATALOG_KINDS.some(({ name }) => name === reader)

/** @throws unprocessable: no reader has this name */
export function readerOf(name: string, app: App): PlaceReader {
  const reader = readersOf(app).find((one) => one.name === name)
  if (!reader) throw errors.unprocessable(say`Folders of ${{ name }} cannot be read: the plugin for them is turned off`)
  return reader
}

/** The reader with the highest certainty. @param names  of the upper levels of the place */
export function recognise(names: readonly string[], app: App): PlaceReader {
  const ranked = readersOf(app).map((reader) => ({ reader, sure: reader.recognise(names) }))
  return ranked.reduce((best, one) => (one.sure > best.sure ? one : best)).reader
}
