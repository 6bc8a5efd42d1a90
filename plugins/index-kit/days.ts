/** Converts times between their stored and shown forms: epoch seconds, and days in the configured time zone. */
import { format } from 'date-fns/format'
import type { Clock } from '../../core/base/clock.ts'

/** The last second that a JavaScript date can represent (ECMA-262, 21.4.1.1). */
export const LATEST_SECOND = 8.64e12

/** Epoch seconds, the form of times on the wire and in the ledger. */
export const epochSeconds = (clock: Pick<Clock, 'now'>): number => Math.floor(clock.now() / 1000)

/** Epoch seconds as ISO 8601, in UTC. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString()

/** The day of an instant in the configured time zone, `YYYY-MM-DD`. */
export const localDay = (seconds: number): string => format(seconds * 1000, 'yyyy-MM-dd')

/** Day and time, `YYYY-MM-DD HH:MM`. */
export const localMinute = (seconds: number): string => format(seconds * 1000, 'yyyy-MM-dd HH:mm')

/** The name of the configured time zone, on which stored days depend. */
export const timeZone = (): string => {
  const { timeZone: name } = Intl.DateTimeFormat().resolvedOptions()
  return name && name !== 'Etc/Unknown' ? name : 'UTC' // the name for an empty TZ, which Elasticsearch does not know
}
