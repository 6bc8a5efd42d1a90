/** The readers of places: those of this plugin, and those that other plugins provide by the hook `library.reader`. */
import { errors, say } from 'archivolt'
import type { PlaceReader } from '../library/reader.ts'
import type { App } from './app.ts'
import { CATALOG_KINDS } from './catalogs/all.ts'
import { ytdlpReader } from './ytdlp.ts'

/** Readers for programs with a catalog: their folders are like those of yt-dlp, and the catalog adds data. */
const catalogReaders: readonly PlaceReader[] = CATALOG_KINDS.map(({ name, title, recognise = () => 0 }) => ({
  ...ytdlpReader,
  name,
  title,
  recognise,
}))

/** The readers that this plugin returns from the hook. */
export const ownReaders: readonly PlaceReader[] = [ytdlpReader, ...catalogReaders]

/** All readers. Those of other plugins come first, so that they win if two are equally sure. */
export function readersOf(app: App): readonly PlaceReader[] {
  const others = app
    .hook('library.reader')
    .flat()
    .filter((one) => !ownReaders.includes(one))
  return [...others, ...ownReaders]
}

export const hasCatalog = (reader: string): boolean => catalogReaders.some(({ name }) => name === reader)

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
