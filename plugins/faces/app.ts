/** The type of the app that this plugin's code receives: with its own services and those that it needs. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'platform' | 'media' | 'channel' | 'video' | 'playlist' | 'user' | 'faces'>
