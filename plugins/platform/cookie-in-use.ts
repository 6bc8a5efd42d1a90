/** The cookie jar in use: passed to each child as text; listeners are told when the platform renews it. */
import { readFile } from 'node:fs/promises'
import type { Log } from 'archivolt'
import { isStillSignedIn, sessionOf } from './cookie-session.ts'
import type { Platform } from './types.ts'

type Listener = Parameters<Platform['onCookieRenewed']>[0]

export class Jar {
  #log: Log
  #path: string | null = null
  /** Incremented with each jar, so that a renewed copy of an earlier jar is recognized. */
  #number = 0
  #listeners = new Set<Listener>()
  /** The session with which asks are made; undefined: no cookie. */
  session: string | undefined
  #reading: Promise<void> = Promise.resolve()

  constructor(log: Log) {
    this.#log = log
  }

  use(path: string | null): void {
    this.#path = path
    const number = ++this.#number
    this.session = undefined
    this.#reading = this.#read().then((text) => {
      if (number === this.#number && text !== null) this.session = sessionOf(text)
    })
  }

  /** Resolves once `session` is known. */
  isRead(): Promise<void> {
    return this.#reading
  }

  /** @returns ends it */
  onRenewed(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** The text for one child, and the callback for a renewed jar. */
  async lend(): Promise<{ text: string | null; onJar: (renewed: string) => void }> {
    const number = this.#number
    const isStillUsed = () => number === this.#number
    const text = await this.#read()
    const onJar = (renewed: string) => {
      if (text !== null && isStillUsed() && isStillSignedIn(text, renewed))
        for (const listener of this.#listeners) listener(renewed, isStillUsed)
    }
    return { text, onJar }
  }

  async #read(): Promise<string | null> {
    if (this.#path === null) return null
    return readFile(this.#path, 'utf8').catch((error: unknown) => {
      this.#log.warn({ err: error }, 'the cookie cannot be read; the platform is asked without')
      return null
    })
  }
}
