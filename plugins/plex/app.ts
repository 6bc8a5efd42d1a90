/** What this plugin's code is handed: the app with the services that it needs, and its own. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'user' | 'media' | 'channel' | 'video' | 'playlist' | 'faces' | 'plex'>
