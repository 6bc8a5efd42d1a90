/** What carries a message to a URL outside, and what it carries. */

export interface OutgoingMessage {
  title: string
  body: string
  kind: 'info' | 'success' | 'failure'
}

/** Brings a message to a URL. @throws unavailable: why it could not, without the URL, which may hold credentials */
export type Carrier = (url: string, message: OutgoingMessage, signal: AbortSignal) => Promise<void>

/** URL scheme → who carries it. */
export type Carriers = Readonly<Record<string, Carrier>>

declare module 'archivolt' {
  interface Hooks {
    /** Asked for each message to a URL outside: who brings those to URLs of further schemes, in lower case. */
    'notification.carrier': { schemes: readonly string[]; carry: Carrier }
  }
}
