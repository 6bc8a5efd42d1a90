/** What this plugin's code is handed: the app with the services it needs and its own. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'user' | 'faces'>
