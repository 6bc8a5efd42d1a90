/** The messages between the frame of a plugin page or button and the surrounding page, through one port. */
import type { Playing, Reader } from './interface.ts'

/** The frame's first message, sent by `postMessage`. The answer is `Begin`, with the port. */
export const HELLO = 'archivolt-plugin-page'

export interface Begin {
  kind: 'begin'
  reader: Reader
  query: Record<string, string>
  /** Only for a button: what was playing when it was pressed. */
  playing?: Playing
}

export interface Refused {
  message: string
  status: number
  code: string
  fields: Record<string, string>
}

/** From the page to the frame. */
export type ToFrame =
  | { kind: 'answer'; id: number; value?: unknown; refused?: Refused }
  | { kind: 'query'; query: Record<string, string> }
  | { kind: 'theme'; theme: 'system' | 'light' | 'dark' }
  /** A ping, which the frame answers immediately, unless a script in it never returns. */
  | { kind: 'alive' }

/** From the frame. Its script is untrusted: each value is checked. */
export type FromFrame =
  | { kind: 'ask'; id: number; method: string; path: string; query?: object; body?: object }
  | { kind: 'picture'; id: number; path: string }
  | { kind: 'navigate'; to: string }
  | { kind: 'height'; height: number }
  | { kind: 'key'; key: string }
  | { kind: 'failed'; message: string }
  /** Only for a button. */
  | { kind: 'say'; text: string }
  | { kind: 'jump'; seconds: number }
  | { kind: 'done' }
  | { kind: 'alive' }
