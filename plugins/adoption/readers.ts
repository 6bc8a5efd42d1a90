/** Readers of places: adoption's own, and those that plugins bring by the hook `library.reader`. */
import { errors, say } from 'archivolt'
import type { PlaceReader } from '../library/reader.ts'
import type { App } from './app.ts'
import { CATALOG_KINDS } from './catalogs/all.ts'
import { ytdlpReader } from './ytdlp.ts'

/** What programs leave that keep a catalog are folders of yt-dlp, of which more is known. */
const catalogReaders: readonly PlaceReader[] = CATALOG_KINDS.map(({ name, title, recognise = () => 0 }) => ({
  ...ytdlpReader,
  name,
  title,
  recognise,
}))

/** What adoption itself answers. */
export const ownReaders: readonly PlaceReader[] = [ytdlpReader, ...catalogReaders]

/** Those of plugins that come later go first: of two that are as sure theirs is taken. */
export const readersOf = (app: App): readonly PlaceReader[] => app.hook('library.reader').toReversed().flat()

export const hasCatalog = (reader: string): boolean => catalogReaders.some(({ name }) => name === reader)

/** @throws unprocessable: there is none of this name */
export function readerOf(name: string, app: App): PlaceReader {
  const reader = readersOf(app).find((one) => one.name === name)
  if (!reader)
    throw errors.unprocessable(say`Nothing here reads folders of ${{ name }}: the plugin that does is turned off`)
  return reader
}

/** The one that is surest. @param names  of the upper levels of the place */
export function recognise(names: readonly string[], app: App): PlaceReader {
  const ranked = readersOf(app).map((reader) => ({ reader, sure: reader.recognise(names) }))
  return ranked.reduce((best, one) => (one.sure > best.sure ? one : best)).reader
}
