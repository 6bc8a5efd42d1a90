/**
 * Names and paths of sidecars: those of videos are next to their films, all others in a hidden folder of the library.
 */
import { dirname, join } from 'node:path'
import type { App } from './app.ts'

export const ENDING = '.archivolt.json'
/** Name of the hidden folder, which scans of the library skip. */
const HIDDEN = '.archivolt'

type Places = Pick<App, 'settings' | 'media'>

/** The name of a sidecar. Ids of Watch later contain an account after a slash. */
const nameOf = (id: string): string => `${id.replace('/', '-')}${ENDING}`

/** @returns undefined: not the name of a sidecar */
export const idIn = (name: string): string | undefined =>
  name.endsWith(ENDING) ? name.slice(0, -ENDING.length) : undefined

export const folderOf = (kind: 'channel' | 'playlist' | 'archive', { settings }: Places): string =>
  join(settings.mediaDir, HIDDEN, ...(kind === 'archive' ? [] : [`${kind}s`]))

export const pathOf = (kind: 'channel' | 'playlist' | 'archive', id: string, app: Places): string =>
  join(folderOf(kind, app), kind === 'archive' ? `archive${ENDING}` : nameOf(id))

export const nextToFilm = (channelId: string, id: string, { media }: Places): string =>
  join(dirname(media.pathOf(channelId, id)), nameOf(id))

/** The folder of sidecars for films in folders of other programs, which are only read. */
export const placedFolder = ({ settings }: Places): string => join(settings.dataDir, 'sidecars')
export const ofPlaced = (id: string, app: Places): string => join(placedFolder(app), nameOf(id))
