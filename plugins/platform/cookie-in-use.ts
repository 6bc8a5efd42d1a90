/** The cookie jar in use: passed to each child as text; listeners are told when the platform renews it. */
import { readFile } from 'node:fs/promises'
import type { Log } from 'archivolt'
import { isStillSignedIn, sessionOf } from './cookie-session.ts'
import type { Platform } from './types.ts'

type Listener = Parameters<Platform['onCookieRenewed']>[0]

export type Jar = ReturnType<typeof openJar>

export function openJar(log: Log) {
  let path: string | null = null
  /** Incremented with each jar, so that a renewed copy of an earlier jar is recognized. */
  let number = 0
  const listeners = new Set<Listener>()
  let session: string | undefined
  let reading: Promise<void> = Promise.resolve()

  function use(next: string | null): void {
    path = next
    const used = ++number
    session = undefined
    reading = read().then((text) => {
      if (used === number && text !== null) session = sessionOf(text)
    })
  }

  /** @returns ends it */
  function onRenewed(listener: Listener): () => void {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /** The text for one child, and the callback for a renewed jar. */
  async function lend(): Promise<{ text: string | null; onJar: (renewed: string) => void }> {
    const lent = number
    const isStillUsed = () => lent === number
    const text = await read()
    const onJar = (renewed: string) => {
      if (text !== null && isStillUsed() && isStillSignedIn(text, renewed))
        for (const listener of listeners) listener(renewed, isStillUsed)
    }
    return { text, onJar }
  }

  async function read(): Promise<string | null> {
    if (path === null) return null
    return readFile(path, 'utf8').catch((error: unknown) => {
      log.warn({ err: error }, 'the cookie cannot be read; requests to the platform are sent without it')
      return null
    })
  }

  return {
    /** The session with which asks are made; undefined: no cookie. */
    get session() {
      return session
    },
    use,
    /** Resolves once `session` is known. */
    isRead: (): Promise<void> => reading,
    onRenewed,
    lend,
  }
}
