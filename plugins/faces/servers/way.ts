/** What every kind of media server can be asked and told. Paths are the server's own. */
import type { Change } from '../types.ts'

/** @throws unavailable: a sentence on what is wrong */
export interface Way {
  /** The folders that its libraries read. */
  folders(): Promise<string[]>
  tell(changes: readonly Change[]): Promise<void>
  /** undefined: other programs cannot write playlists of this kind of server. */
  lists?: Lists
}

/** A video or sound in a library of the server. */
export interface Item {
  id: string
  path: string
}

/** An item in a playlist. */
export interface Entry extends Item {
  /** The id of the entry. */
  entry: string
}

/** Playlists of a media server, by its own ids. */
export interface Lists {
  /** What the libraries that read one of these folders contain, page by page, the newest first. */
  items(folders: readonly string[]): AsyncIterable<Item[]>
  /** In order. undefined: there is no such playlist. @param name  that we gave it */
  entries(id: string, name: string): Promise<Entry[] | undefined>
  /** Ids of all playlists of this name, those of people too. */
  named(name: string): Promise<string[]>
  /** @param items  ids, at least one. @returns its id */
  create(name: string, items: readonly string[]): Promise<string>
  /** @param wanted  ids of items, each once */
  arrange(id: string, present: readonly Entry[], wanted: readonly string[]): Promise<void>
  remove(id: string): Promise<void>
}

export const isBelow = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
