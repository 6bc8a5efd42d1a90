/** The type of the app that this plugin's code receives: it has the services that this plugin needs. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'download'>
