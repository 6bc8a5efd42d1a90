/**
 * The failure classes: one row each says what follows from it, for what was asked for, for the gate, for people. A new
 * class is a new row here, the words that lead to it in `classify.ts`, and what the compiler and the tests then ask
 * for: its name in the queue's schema, its reasons (`reasons.ts`), its place and texts on the page
 * (`web/page/stores/failures.ts`), its line in contract 9.3.
 */
import { say, sentenceOf, type Words } from 'archivolt'
import { PLATFORM } from './name.ts'
import { fullDiskText } from './room.ts'

export type ClosedState = 'blocked' | 'offline' | 'halted'

export type FailureRow = About & Fate

/** What becomes of the item. */
type Fate =
  /** About the platform or this machine: the ask waits at the gate and goes on by itself. */
  | { readonly item: 'wait'; readonly again?: never }
  /** `final` is noted on the item at once, `retry` is tried again first. */
  | { readonly item: 'final' | 'retry'; readonly again: Again }

/**
 * When an item that is noted is taken again by itself. `looks`: the reason may end without notice, so it is taken when a
 * listing shows the video without a mark, else after the days of download/retries.ts. `told`: at the time that is known
 * with the failure, and never where there is no such time.
 */
type Again = 'looks' | 'told'

interface About {
  /** For people: the API's documentation says it. */
  readonly meaning: string
  /** For people, of a video of which its own words tell no more (`reasons.ts`). None: its own words say it. */
  readonly said?: Words
  /** Another account may have it: it is taken again when the cookie changes. */
  readonly needsAccount?: true
  /** The platform has it no longer: its document becomes inactive. */
  readonly deactivates?: true
  /** What the platform told beside it is of use: the video is there, only not for us or not yet. */
  readonly hasMetadata?: true
  /** Nobody answered, so nothing is known. */
  readonly isUnanswered?: true
  /** It closes the gate. */
  readonly gate?: GateRule
}

interface GateRule {
  readonly state: ClosedState
  /** So many different items in a row close it. */
  readonly items: number
  /** For people, from the words of the failure. */
  readonly reason: (message: Words) => Words
  /** Minutes to each next attempt; the last is repeated. */
  readonly minutes: readonly number[]
  /** This machine lacks something: a look at it opens the gate again, no item tries. */
  readonly isOurs?: true
}

/** From so many different items in a row the same trouble is not about the items. */
const WAVE = 3
const GATE_PAUSE_MINUTES = [1, 5, 15, 60]

const ROWS = {
  gone: {
    meaning: `deleted or private on ${PLATFORM}`,
    said: say`Deleted or private`,
    item: 'final',
    again: 'looks',
    deactivates: true,
  },
  restricted: {
    meaning: 'not available in this country or in this way',
    said: say`Not available here`,
    item: 'final',
    again: 'looks',
    hasMetadata: true,
  },
  login_required: {
    meaning: 'needs an account: add a cookie',
    said: say`Only for those who have signed in`,
    item: 'final',
    again: 'looks',
    needsAccount: true,
  },
  members_only: {
    meaning: 'only for members of the channel',
    said: say`Only for members of the channel`,
    item: 'final',
    again: 'looks',
    needsAccount: true,
    hasMetadata: true,
  },
  age: {
    meaning: 'has an age limit',
    said: say`Only for adults who have signed in`,
    item: 'final',
    again: 'looks',
    needsAccount: true,
    hasMetadata: true,
  },
  upcoming: {
    meaning: 'announced or live now; tried again by itself at `retry_at`',
    said: say`Not out yet`,
    item: 'final',
    again: 'told',
    hasMetadata: true,
  },
  not_offered: {
    meaning: 'not in the quality that is wanted; tried again by itself at `retry_at`, where there is one',
    said: say`Not in the quality that is wanted`,
    item: 'final',
    // Without a time: the preferences say to skip what is not offered, and a later look would skip it again.
    again: 'told',
    hasMetadata: true,
  },
  network: {
    meaning: 'the connection broke several times',
    said: say`The connection broke off`,
    item: 'retry',
    again: 'looks',
    isUnanswered: true,
    gate: {
      state: 'offline',
      items: WAVE,
      reason: (message) => say`${{ platform: PLATFORM }} does not answer: ${{ reason: sentenceOf(message) }}`,
      minutes: GATE_PAUSE_MINUTES,
    },
  },
  unknown: { meaning: 'anything else; the message has the words of yt-dlp', item: 'retry', again: 'looks' },
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
    gate: { state: 'halted', items: 1, reason: fullDiskText, minutes: [1], isOurs: true },
  },
  missing_tool: {
    meaning: 'a program is missing',
    item: 'wait',
    gate: {
      state: 'halted',
      items: 1,
      reason: (message) => say`A program is missing: ${{ reason: sentenceOf(message) }}`,
      minutes: [1],
      isOurs: true,
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

/** Those that are noted on an item of the queue. */
export type ItemFailureClass = {
  [Class in FailureClass]: (typeof ROWS)[Class]['item'] extends 'wait' ? never : Class
}[FailureClass]
/** Those that close the gate. */
export type GateClass = {
  [Class in FailureClass]: (typeof ROWS)[Class] extends { gate: GateRule } ? Class : never
}[FailureClass]

export const gateRuleOf = (failure: GateClass): GateRule => ROWS[failure].gate

/**
 * What a failure shows beside its class. Each item fails for itself; as a wave over different items it is not about
 * them, and closes the gate as another class does. `no_tab` (the channel has no such tab) never does.
 */
export type Sign = 'sign_in' | 'not_understood' | 'no_tab'

interface Wave {
  readonly closesAs: GateClass
  readonly items: number
  readonly reason: (message: Words) => Words
  /** Only items with the same words count together. */
  readonly isByWords?: true
}

export const WAVES: Readonly<Partial<Record<Sign, Wave>>> = {
  sign_in: {
    closesAs: 'blocked',
    items: WAVE,
    reason: (message) =>
      say`${{ platform: PLATFORM }} wants an account for every video: ${{ reason: sentenceOf(message) }}`,
  },
  not_understood: { closesAs: 'outdated', items: WAVE, reason: ROWS.outdated.gate.reason, isByWords: true },
}
