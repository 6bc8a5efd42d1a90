/**
 * The type of the app that this plugin's code receives: it has the services of the plugins that this one needs, and its
 * own.
 */
import type { AppOf } from 'archivolt'

export type App = AppOf<'stats' | 'channel' | 'video' | 'playlist' | 'download'>
