/**
 * How long downloads wait before retries. Other waits are defined where they belong: the closed gate in
 * platform/failure-classes.ts, refused subtitles in platform/subtitle-closure.ts and put-off-subtitles.ts, announced
 * videos in platform/classify.ts, videos not offered as wanted in platform/worker_files.py, degraded ones in
 * degraded.ts.
 */

/** Days after a failure that may end without notice: `again: 'rechecked'` in platform/failure-classes.ts. */
export const RECHECK_DAYS = [1, 7, 30]
/** Delays before each retry of a failure that may be temporary: `item: 'retry'` in platform/failure-classes.ts. */
export const RETRY_DELAYS_MS = [10_000, 60_000, 300_000]
/** Delay for an item that has failed too often as the probe of the closed gate, so that others can be the probe. */
export const DEFERRED_MS = 60_000
/** Interval of the checks for an item that is too large for the disk; such a check is cheap. */
export const ROOM_CHECK_MS = 60_000
/** Interval at which an unavailable library is checked. */
export const LIBRARY_CHECK_MS = 60_000
