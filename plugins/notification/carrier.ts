/** The interface for sending a message to an external URL. */

export interface OutgoingMessage {
  title: string
  body: string
  kind: 'info' | 'success' | 'failure'
}

/** Sends a message to a URL. @throws unavailable: the reason, without the URL, which may contain credentials */
export type Carrier = (url: string, message: OutgoingMessage, signal: AbortSignal) => Promise<void>

/** URL scheme → its carrier. */
export type Carriers = Readonly<Record<string, Carrier>>

declare module 'archivolt' {
  interface Hooks {
    /** Asked for each message to an external URL: carriers for additional schemes, in lower case. */
    'notification.carrier': { schemes: readonly string[]; carry: Carrier }
  }
}
