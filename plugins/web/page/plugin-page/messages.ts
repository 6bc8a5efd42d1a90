/** What a plugin's page, or its button, and the page around it say to each other, through one port. */
import type { Playing, Reader } from './interface.ts'

/** The frame's first word, by `postMessage`; the answer is the port, with `Begin`. */
export const HELLO = 'archivolt-plugin-page'

export interface Begin {
  kind: 'begin'
  reader: Reader
  query: Record<string, string>
  /** Of a button: it was pressed while this was played. */
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
  /** Answered at once, unless a script in the frame does not come to its end. */
  | { kind: 'alive' }

/** From the frame. Its script is a stranger: each value is checked. */
export type FromFrame =
  | { kind: 'ask'; id: number; method: string; path: string; query?: object; body?: object }
  | { kind: 'picture'; id: number; path: string }
  | { kind: 'navigate'; to: string }
  | { kind: 'height'; height: number }
  | { kind: 'key'; key: string }
  | { kind: 'failed'; message: string }
  /** Of a button. */
  | { kind: 'say'; text: string }
  | { kind: 'jump'; seconds: number }
  | { kind: 'done' }
  | { kind: 'alive' }
