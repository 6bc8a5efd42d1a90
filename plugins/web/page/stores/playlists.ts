/** Drops cached lists of playlists when one has changed. */
import { forget } from './load.ts'

export function forgetPlaylists(): void {
  forget('list playlists')
  forget('playlists')
}
