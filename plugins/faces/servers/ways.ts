/** Opens the client of a media server, by its kind. */
import type { App } from '../app.ts'
import { openAsk } from './ask.ts'
import { openJellyfin } from './jellyfin.ts'
import { openKodi } from './kodi.ts'
import { openPlex } from './plex.ts'
import type { Kind } from './tables.ts'
import type { Way } from './way.ts'

export interface Asked {
  kind: Kind
  url: string
  secret: string
}

const KNOWN: Record<Kind, string> = { jellyfin: 'Jellyfin', emby: 'Emby', plex: 'Plex', kodi: 'Kodi' }
const WAYS = { jellyfin: openJellyfin, emby: openJellyfin, plex: openPlex, kodi: openKodi } as const

export const openWay = ({ kind, url, secret }: Asked, app: Pick<App, 'fetch'>, signal: AbortSignal): Way =>
  WAYS[kind](openAsk(KNOWN[kind], url, app, signal), secret, signal)
