/** The type of the app that this plugin's code receives: it has its own services, and those that it needs. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'user' | 'media' | 'channel' | 'video' | 'playlist' | 'faces' | 'plex'>
