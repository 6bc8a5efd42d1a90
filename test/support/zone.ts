/** The time zone of the process for one test, as TZ sets it for a server. */
import type { TestContext } from 'node:test'

/** @returns changes it again within the test */
export function inZone(t: TestContext, zone: string): (zone: string) => void {
  const before = process.env['TZ']
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
  const set = (name: string) => void (process.env['TZ'] = name)
  set(zone)
  return set
}
