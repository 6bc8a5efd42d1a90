/** The requests that every kind of media server supports. Paths are the server's own. */
import type { Change } from '../types.ts'

/** @throws unavailable: a sentence about the problem */
export interface Way {
  /** The folders that the server's libraries read. */
  folders(): Promise<string[]>
  /** @param faces  the folders of all faces: a server need not read every one */
  tell(changes: readonly Change[], faces: readonly string[]): Promise<void>
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
  /** The server's own id, which stays the same at another address; '': it has none. */
  machine(): Promise<string>
  /** The items of libraries that read one of these folders, page by page, the newest first. */
  items(folders: readonly string[]): AsyncIterable<Item[]>
  /** The entries in order; undefined: there is no such playlist. @param name  the name that we gave it */
  entries(id: string, name: string): Promise<Entry[] | undefined>
  /** Ids of all playlists of this name, including those of people. */
  named(name: string): Promise<string[]>
  /** @param items  ids, at least one. @returns the id of the playlist */
  create(name: string, items: readonly string[]): Promise<string>
  /** @param wanted  ids of items, each once */
  arrange(id: string, present: readonly Entry[], wanted: readonly string[]): Promise<void>
  remove(id: string): Promise<void>
}

export const isBelow = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)
