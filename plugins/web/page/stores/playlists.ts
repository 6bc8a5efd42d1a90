/** Lists of playlists: asked for anew once one has changed. */
import { forget } from './load.ts'

export function forgetPlaylists(): void {
  forget('list playlists')
  forget('playlists')
}
