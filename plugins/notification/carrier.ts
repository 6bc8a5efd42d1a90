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
