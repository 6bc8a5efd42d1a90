/** Formats durations for people. */

const UNITS = [
  ['y', 365 * 86_400],
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const

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
