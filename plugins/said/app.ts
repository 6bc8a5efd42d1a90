/** The type of the app that this plugin's code receives: with the services of the plugins that it needs. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'user' | 'media' | 'video' | 'search' | 'said'>
