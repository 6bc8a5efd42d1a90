/** Days as people of the server's time zone count them. */
import { format } from 'date-fns/format'

/** `YYYY-MM-DD` of an instant in epoch seconds. */
export const localDay = (epochSeconds: number): string => format(epochSeconds * 1000, 'yyyy-MM-dd')

/** What stored days depend on. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone
