/** Which services the code of this plugin sees. */
import type { AppOf } from 'archivolt'

export type App = AppOf<'oidc' | 'user'>
