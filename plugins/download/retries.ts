/**
 * How long downloads wait before they try again, and for what. Other waits stand with what they belong to: of the
 * closed gate in platform/failure-classes.ts, of refused subtitles in platform/subtitle-closure.ts and
 * put-off-subtitles.ts, of an announced video in platform/classify.ts, of one that is not offered as wanted in
 * platform/worker_files.py, of a degraded one in degraded.ts.
 */

/** After an item was noted with what may end without notice: `again: 'looks'` in platform/failure-classes.ts. */
export const LOOK_AGAIN_DAYS = [1, 7, 30]
/** Before each further attempt at what another attempt may mend: `item: 'retry'` in platform/failure-classes.ts. */
export const RETRY_DELAYS_MS = [10_000, 60_000, 300_000]
/** How long an item that failed too often as the probe of the closed gate waits, so that others can be the probe. */
export const DEFERRED_MS = 60_000
/** An item that is too large for the disk: looking at a disk costs nothing. */
export const LOOK_FOR_ROOM_MS = 60_000
/** How often a library that is away is looked for. */
export const LOOK_FOR_LIBRARY_MS = 60_000
