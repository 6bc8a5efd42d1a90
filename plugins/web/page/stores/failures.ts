/**
 * The failure classes as people see them; their texts are `downloads.class.<class>` in `texts/languages/`. A test
 * compares them with the platform plugin's table.
 */
import type { ErrorClass } from '../server/records.ts'

/** What can be mended by somebody comes first. */
export const CLASSES: readonly ErrorClass[] = [
  'login_required',
  'members_only',
  'age',
  'not_offered',
  'network',
  'unknown',
  'restricted',
  'gone',
]
/** Announced or live now: nothing has failed, they are taken when they are there. */
export const LATER: ErrorClass = 'upcoming'
/** What a cookie may help with. */
export const FOR_COOKIE: readonly ErrorClass[] = ['login_required', 'members_only', 'age']
