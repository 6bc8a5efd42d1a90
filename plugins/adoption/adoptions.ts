/** The service `adoptions`: plans with their rows, and the state that tasks and routes share. */
import { type App, openLocks } from 'archivolt'
import { openFound } from './1-find-libraries.ts'
import { openCredentials } from './live-elasticsearch.ts'
import { openFollowed, openSeen } from './plans/followed.ts'
import { openPlans } from './plans/plans.ts'

export const openAdoptions = (app: App) => ({
  ...openPlans(app),
  followed: openFollowed(app),
  /** The state of followed places at their last scan. */
  seen: openSeen(app),
  /** Credentials for servers of other programs, stored only in memory. */
  credentials: openCredentials(),
  found: openFound(app),
  /** Serializes the start of scans by place, so that one of two simultaneous requests is refused. */
  beginning: openLocks(),
})

export type Adoptions = ReturnType<typeof openAdoptions>
