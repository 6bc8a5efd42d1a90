/**
 * The failure classes. The row of a class defines the consequences for the item, for the gate and for people. A new
 * class needs a row here, its patterns in `classify.ts`, and what the compiler and the tests then report: its name in
 * the queue's schema, its reasons (`reasons.ts`), its group and texts on the page (`web/page/stores/failures.ts`),
 * its line in contract 9.3.
 */
import { say, sentenceOf, type Words } from 'archivolt'
import { fullDiskText } from './free-space.ts'
import { PLATFORM } from './name.ts'

export type ClosedState = 'blocked' | 'offline' | 'halted'

export type FailureRow = About & Fate

/** The consequence for the item. */
type Fate =
  /** Concerns the platform or this machine: the ask waits at the gate and continues automatically. */
  | { readonly item: 'wait'; readonly again?: never }
  /** `final`: recorded on the item at once. `retry`: retried first. */
  | { readonly item: 'final' | 'retry'; readonly again: Again }

/**
 * When a failed item is retried automatically. `rechecked`: the reason may end without notice, so the item is retried
 * when a listing shows the video without a restriction, otherwise after the days in download/retries.ts. `told`: the
 * item is retried at the time given with the failure, or never if no time is given.
 */
type Again = 'rechecked' | 'told'

interface About {
  /** For the API documentation. */
  readonly meaning: string
  /** The sentence for people, unless the message is more specific (`reasons.ts`). Omitted: the message is used. */
  readonly said?: Words
  /** Another account may have access: retried when the cookie changes. */
  readonly needsAccount?: true
  /** The video is gone from the platform: its document becomes inactive. */
  readonly deactivates?: true
  /** The platform's metadata is usable: the video exists, but not for us or not yet. */
  readonly hasMetadata?: true
  /** The platform has not responded, so nothing is known about the video. */
  readonly isUnanswered?: true
  /** Closes the gate. */
  readonly gate?: GateRule
}

interface GateRule {
  readonly state: ClosedState
  /** The gate closes when this many different items in a row have failed in this way. */
  readonly items: number
  /** The reason for people, made from the failure's message. */
  readonly reason: (message: Words) => Words
  /** Minutes before each next attempt; the last is repeated. */
  readonly minutes: readonly number[]
  /** This machine lacks something: a check of the machine opens the gate, without a probe. */
  readonly isLocal?: true
}

/** If this many different items in a row fail in the same way, the items are not the cause. */
const WAVE = 3
const GATE_PAUSE_MINUTES = [1, 5, 15, 60]

const ROWS = {
  gone: {
    meaning: `deleted or private on ${PLATFORM}`,
    said: say`Deleted or private`,
    item: 'final',
    again: 'rechecked',
    deactivates: true,
  },
  restricted: {
    meaning: 'not available in this country or in this way',
    said: say`Not available here`,
    item: 'final',
    again: 'rechecked',
    hasMetadata: true,
  },
  login_required: {
    meaning: 'needs an account: add a cookie',
    said: say`Only for signed-in viewers`,
    item: 'final',
    again: 'rechecked',
    needsAccount: true,
  },
  members_only: {
    meaning: 'only for members of the channel',
    said: say`Only for members of the channel`,
    item: 'final',
    again: 'rechecked',
    needsAccount: true,
    hasMetadata: true,
  },
  age: {
    meaning: 'has an age limit',
    said: say`Only for signed-in adults`,
    item: 'final',
    again: 'rechecked',
    needsAccount: true,
    hasMetadata: true,
  },
  upcoming: {
    meaning: 'announced or live now; retried by the first download run after `retry_at`',
    said: say`Not out yet`,
    item: 'final',
    again: 'told',
    hasMetadata: true,
  },
  not_offered: {
    meaning: 'not in the wanted quality; retried by the first download run after `retry_at`, if set',
    said: say`Not in the wanted quality`,
    item: 'final',
    // No time is given if the preferences skip videos that are not offered as wanted, because a retry would skip the
    // video again.
    again: 'told',
    hasMetadata: true,
  },
  network: {
    meaning: 'the connection failed several times',
    said: say`The connection was interrupted`,
    item: 'retry',
    again: 'rechecked',
    isUnanswered: true,
    gate: {
      state: 'offline',
      items: WAVE,
      reason: (message) => say`${{ platform: PLATFORM }} does not answer: ${{ reason: sentenceOf(message) }}`,
      minutes: GATE_PAUSE_MINUTES,
    },
  },
  unknown: { meaning: "anything else; the message is yt-dlp's", item: 'retry', again: 'rechecked' },
  blocked: {
    meaning: `${PLATFORM} refuses our requests`,
    item: 'wait',
    gate: {
      state: 'blocked',
      items: 1,
      reason: (message) => say`${{ platform: PLATFORM }} refuses our requests: ${{ reason: sentenceOf(message) }}`,
      minutes: GATE_PAUSE_MINUTES,
    },
  },
  disk_full: {
    meaning: 'the disk is full',
    item: 'wait',
    gate: { state: 'halted', items: 1, reason: fullDiskText, minutes: [1], isLocal: true },
  },
  missing_tool: {
    meaning: 'a program is missing',
    item: 'wait',
    gate: {
      state: 'halted',
      items: 1,
      reason: (message) => say`A program is missing: ${{ reason: sentenceOf(message) }}`,
      minutes: [1],
      isLocal: true,
    },
  },
  outdated: {
    meaning: `yt-dlp no longer understands ${PLATFORM}`,
    item: 'wait',
    gate: {
      state: 'halted',
      items: WAVE,
      reason: (message) =>
        say`yt-dlp no longer understands ${{ platform: PLATFORM }}; update yt-dlp: ${{ reason: sentenceOf(message) }}`,
      minutes: [60],
    },
  },
} as const satisfies Readonly<Record<string, FailureRow>>

export type FailureClass = keyof typeof ROWS
export const FAILURES: Readonly<Record<FailureClass, FailureRow>> = ROWS

/** The classes that are recorded on queue items. */
export type ItemFailureClass = {
  [Class in FailureClass]: (typeof ROWS)[Class]['item'] extends 'wait' ? never : Class
}[FailureClass]
/** The classes that close the gate. */
export type GateClass = {
  [Class in FailureClass]: (typeof ROWS)[Class] extends { gate: GateRule } ? Class : never
}[FailureClass]

export const gateRuleOf = (failure: GateClass): GateRule => ROWS[failure].gate

/**
 * A sign that a failure may carry in addition to its class. A single failure with a sign fails only its item. A wave of
 * them over different items is not caused by the items, and closes the gate like a failure of the class `closesAs`.
 * `no_tab` (the channel has no such tab) never closes the gate.
 */
export type Sign = 'sign_in' | 'not_understood' | 'no_tab'

interface Wave {
  readonly closesAs: GateClass
  readonly items: number
  readonly reason: (message: Words) => Words
  /** Only items with the same message count together. */
  readonly isByWords?: true
}

export const WAVES: Readonly<Partial<Record<Sign, Wave>>> = {
  sign_in: {
    closesAs: 'blocked',
    items: WAVE,
    reason: (message) =>
      say`${{ platform: PLATFORM }} requires an account for every video: ${{ reason: sentenceOf(message) }}`,
  },
  not_understood: { closesAs: 'outdated', items: WAVE, reason: ROWS.outdated.gate.reason, isByWords: true },
}
