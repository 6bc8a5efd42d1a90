/** What this plugin's code is handed: the app with the services of the plugins that it needs, and its own. */
import type { AppOf } from 'archivolt'

export type App = AppOf<
  'rules' | 'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'watch' | 'user' | 'download' | 'bin' | 'cookie'
>
