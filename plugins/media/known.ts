/** Asks the plugins that own the documents whether the archive has a document, and what its name is. */
import type { Meter } from 'archivolt'
import type { App } from './app.ts'
import type { KnownKind, Play } from './types.ts'

export async function isKnown(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<boolean> {
  for (const has of app.hook('media.known')) if (await has(kind, id)) return true
  return false
}

/** Whether the document may be restored, so that its picture is still needed. */
export async function isKept(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<boolean> {
  for (const keeps of app.hook('media.kept')) if (await keeps(kind, id)) return true
  return false
}

/** The title or name for people, otherwise the id. */
export async function titleOf(kind: KnownKind, id: string, app: Pick<App, 'hook'>): Promise<string> {
  for (const titled of app.hook('media.titled')) {
    const title = await titled(kind, id)
    if (title) return title
  }
  return id
}

/** Asks whether a film may be sent, and collects the meters to be called for its pieces. */
export async function askToPlay(play: Play, app: Pick<App, 'hook'>): Promise<{ meter?: Meter }> {
  const meters: Meter[] = []
  for (const ask of app.hook('media.play')) {
    const meter = await ask(play)
    if (meter) meters.push(meter)
  }
  if (meters.length === 0) return {}
  return {
    meter: async (bytes, size) =>
      (await Promise.all(meters.map((meter) => meter(bytes, size)))).every((mayBeSent) => mayBeSent),
  }
}
