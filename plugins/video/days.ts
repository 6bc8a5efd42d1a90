/** Days as people of the server's time zone count them, and lengths as they read them. */
import { format } from 'date-fns/format'

/** `YYYY-MM-DD` of an instant in epoch seconds. */
export const localDay = (epochSeconds: number): string => format(epochSeconds * 1000, 'yyyy-MM-dd')

/** What stored days depend on. */
export const timeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

const UNITS = [['y', 365 * 86_400], ['d', 86_400], ['h', 3600], ['m', 60], ['s', 1]] as const

/** Contract 1.3: `1h 05s`, `8m 20s`, `NA`. Years have 365 days. */
export function durationText(seconds: number): string {
  const parts: string[] = []
  let left = Math.round(seconds)
  for (const [unit, length] of UNITS) {
    const count = Math.floor(left / length)
    left -= count * length
    if (count > 0) parts.push(`${parts.length > 0 ? String(count).padStart(2, '0') : count}${unit}`)
  }
  return parts.join(' ') || 'NA'
}
