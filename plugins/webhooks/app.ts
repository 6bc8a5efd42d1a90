/** The type of the app that this plugin's code receives: it has its own services. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'webhooks'>
