/** What this plugin's code is handed: the app with its own services. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'webhooks'>
