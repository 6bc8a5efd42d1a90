/** The type of the app that this plugin's code receives: with the services that it uses. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'user' | 'signincode'>
