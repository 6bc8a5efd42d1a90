/** Rating keys and GUIDs for Plex, and the ids in square brackets in file names. */
import { isId } from 'archivolt'

/** Plex stores the identifier with every item, so it never changes. */
export const IDENTIFIER = 'tv.plex.agents.custom.archivolt'

export type Key =
  | { type: 'show'; show: string }
  | { type: 'season'; show: string; season: number }
  | { type: 'episode'; video: string }
  | { type: 'collection'; playlist: string }

export function keyOf(key: Key): string {
  switch (key.type) {
    case 'show':
      return `show-${key.show}`
    case 'season':
      return `season-${key.show}-${key.season}`
    case 'episode':
      return `episode-${key.video}`
    case 'collection':
      return `collection-${key.playlist}`
  }
}

/** undefined: the key has another form */
export function readKey(text: string): Key | undefined {
  const [, type, rest = ''] = /^(show|season|episode|collection)-(.+)$/.exec(text) ?? []
  if (type === 'season') {
    const [, show = '', season] = /^(.+)-(\d{1,4})$/.exec(rest) ?? []
    return isId(show) ? { type, show, season: Number(season) } : undefined
  }
  if (!isId(rest)) return undefined
  if (type === 'show') return { type, show: rest }
  return type === 'episode' ? { type, video: rest } : { type: 'collection', playlist: rest }
}

export const guidOf = (key: Key): string => `${IDENTIFIER}://${key.type}/${keyOf(key)}`

/** undefined: the GUID belongs to another provider */
export const readGuid = (guid: string): Key | undefined =>
  guid.startsWith(`${IDENTIFIER}://`) ? readKey(guid.slice(guid.lastIndexOf('/') + 1)) : undefined

/** Maximum number of ids that are read from a path, which has one for the show and one for the film. */
const MOST_IDS = 10

/**
 * The last ids in a path, in order. Removes the spaces that faces insert into ids that a media server would read as
 * episode numbers.
 */
export const idsIn = (path: string): string[] =>
  [...path.matchAll(/\[([^[\]]{1,300})\]/g)]
    .map(([, inner]) => inner!.replaceAll(' ', ''))
    .filter(isId)
    .slice(-MOST_IDS)
