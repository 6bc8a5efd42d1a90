/** Whether the archive has something, and its name: asked of the plugins that own the documents. */
import type { App } from './app.ts'
import type { KnownKind } from './types.ts'

export async function isKnown(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<boolean> {
  for (const has of app.hook('media.known')) if (await has(kind, id)) return true
  return false
}

/** Whether it may be restored, so that its picture is still needed. */
export async function isKept(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<boolean> {
  for (const keeps of app.hook('media.kept')) if (await keeps(kind, id)) return true
  return false
}

/** For people: its title or name, otherwise its id. */
export async function titleOf(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<string> {
  for (const titled of app.hook('media.titled')) {
    const title = await titled(kind, id)
    if (title) return title
  }
  return id
}
