/** The service `adoptions`: plans with their rows, and what is remembered between their tasks and the routes. */
import type { App } from 'archivolt'
import { openFound } from './1-find-libraries.ts'
import { openCredentials } from './live-elasticsearch.ts'
import { openFollowed, openSeen } from './plans/followed.ts'
import { openPlans } from './plans/plans.ts'

export const openAdoptions = (app: App) => ({
  ...openPlans(app),
  followed: openFollowed(app),
  /** Of places that are followed. */
  seen: openSeen(app),
  /** Of servers of other programs; in memory alone. */
  credentials: openCredentials(),
  found: openFound(app),
})

export type Adoptions = ReturnType<typeof openAdoptions>
