/** Adds the id under the platform's own key next to `platform_id`, if this is switched on (contract 1.2). */
import { errors, say } from 'archivolt'

export function idUnderEitherKey(object: Record<string, unknown>, mirrorKey: string | null): string {
  const own = object.platform_id
  const mirrored = mirrorKey === null ? undefined : object[mirrorKey]
  const names = mirrorKey === null ? 'platform_id' : `platform_id or ${mirrorKey}`
  if (own !== undefined && mirrored !== undefined && own !== mirrored)
    throw errors.badRequest(say`platform_id and ${{ name: String(mirrorKey) }} must be the same`)
  const id = own ?? mirrored
  if (typeof id !== 'string' || id === '') throw errors.badRequest(say`The id is missing: give ${{ names }}`)
  return id
}
