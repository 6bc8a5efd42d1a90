/** The type of the app that this plugin's code receives: with the services it needs and its own. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'user' | 'faces'>
