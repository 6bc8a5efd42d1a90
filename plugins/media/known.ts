/** Whether the archive has something: asked of the plugins that keep it. */
import type { App } from './app.ts'
import type { KnownKind } from './types.ts'

export async function isKnown(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<boolean> {
  for (const has of app.hook('media.known')) if (await has(kind, id)) return true
  return false
}
