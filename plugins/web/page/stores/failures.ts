/**
 * The failure classes that the page shows; their texts are `downloads.class.<class>` in `texts/languages/`. A test
 * compares them with the platform plugin's table.
 */
import type { ErrorClass } from '../server/records.ts'

/** Classes that somebody can solve come first. */
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
/** The video was announced or is live now. This is not a failure: it is downloaded when it is available. */
export const LATER: ErrorClass = 'upcoming'
/** Classes for which a cookie may help. */
export const FOR_COOKIE: readonly ErrorClass[] = ['login_required', 'members_only', 'age']
