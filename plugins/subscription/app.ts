/** The type of the app that this plugin's code receives: with the services that it needs. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'download'>
