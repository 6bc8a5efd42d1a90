/** check_reindex: processes the refresh queue; a scheduled run fills it first. */
import {
  defineTask,
  isAppError,
  type JobContext,
  joined,
  type Static,
  say,
  sentenceOf,
  Type,
  type Words,
} from 'archivolt'
import type { App } from './app.ts'
import { putBehindOthers, refreshItem, setActive } from './item.ts'
import type { Item, Kind } from './queue.ts'
import { selectOutdated } from './select.ts'

const DEFAULT_DAYS = 90
/** Number of attempts per entry if the failures give no information about it. */
const MOST_ATTEMPTS = 3

const MOST_DAYS = 36_500
/** Maximum number of truncated listings that the result of a run names. */
const MOST_TOLD = 5
const Days = Type.Integer({ minimum: 1, maximum: MOST_DAYS })
const Payload = Type.Object({
  days: Type.Optional(Days),
  scheduled: Type.Optional(Type.Boolean()),
  /** If several starts were merged into this job: how many of them were scheduled. */
  scheduledStarts: Type.Optional(Type.Integer()),
})
type Payload = Static<typeof Payload>
type Run = JobContext<Payload>

const scheduledStartsOf = ({ scheduled = false, scheduledStarts = Number(scheduled) }: Payload): number =>
  scheduledStarts

export const checkReindex = defineTask({
  name: 'check_reindex',
  title: 'Reindex Documents',
  group: 'reindex:run',
  payload: Payload,
  lane: 'platform',
  unique: true,
  merge: (before, asked) => ({
    ...before,
    ...asked,
    scheduledStarts: scheduledStartsOf(before) + scheduledStartsOf(asked),
  }),
  resumable: true,
  outgoing: true,
  retries: { times: 3, delaySeconds: 600 }, // the remaining entries stay in the ledger
  schedule: {
    auto: '0 12 *',
    initially: { hour: '12' },
    config: Type.Object({
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MOST_DAYS,
          title: 'Refresh everything within',
          description: `The most outdated come first. Empty: ${DEFAULT_DAYS} days.`,
          'x-unit': 'days',
        }),
      ),
    }),
    initialConfig: { days: DEFAULT_DAYS },
  },
  async run(job, app: App) {
    const queue = app.refreshQueue
    const { days = DEFAULT_DAYS } = job.payload
    const starts = scheduledStartsOf(job.payload)
    if (starts > queue.selectedFor(job.id)) {
      await job.step('refresh.select', () => selectOutdated(days, app))
      await queue.noteSelected(job.id, starts)
    }
    return workOff(job, app)
  },
})

async function workOff(job: Run, app: App): Promise<Words | null> {
  const queue = app.refreshQueue
  if (!queue.next() || !(await isSignedInAsWanted(job, app))) return null

  const counts: Record<Kind, number> = { video: 0, channel: 0, playlist: 0 }
  const cut: Words[] = []
  for (let number = 0; !job.isStopping(); number++) {
    job.signal.throwIfAborted()
    const item = queue.next()
    if (!item) break
    job.progress(
      number / (number + queue.waiting()),
      say`Refreshing ${{ title: await app.media.titleOf(item.kind, item.id) }}, ${{ count: queue.waiting() }} waiting`,
    )
    if (await work(item, job, app, (told) => cut.push(told))) counts[item.kind]++
  }
  return inWords(counts, cut)
}

/**
 * Whether the cookie, if enabled, is valid: with an expired one, every video that requires it would seem to be deleted.
 * @throws unavailable: the platform cannot be asked
 */
async function isSignedInAsWanted(job: Run, app: App): Promise<boolean> {
  if (!app.cookie.isEnabled() || (await app.cookie.validate({ asker: job.id, signal: job.signal }))) return true
  job.log.warn('the cookie is no longer valid: nothing is refreshed')
  await app.jobs.notify({
    of: checkReindex,
    group: 'setting:application',
    level: 'error',
    messages: ['The cookie is no longer valid: add a new one, or remove it'],
  })
  return false
}

/** A single bad entry never ends the run. @returns whether the document was refreshed */
async function work(item: Item, job: Run, app: App, onCut: (told: Words) => void): Promise<boolean> {
  const queue = app.refreshQueue
  queue.begin(item)
  try {
    const isRefreshed = await job.step('refresh.item', () => refreshItem(item, job, app, onCut))
    await queue.done(item)
    return isRefreshed
  } catch (error) {
    if (job.signal.aborted) throw error
    return await settle(item, error, job, app)
  } finally {
    queue.end()
  }
}

/** Handles a failed refresh. Only a deletion changes the document; other failures give no information about it. */
async function settle(item: Item, error: unknown, job: Run, app: App): Promise<boolean> {
  const queue = app.refreshQueue
  const failure = app.platform.failureOf(error)
  if (!failure && isAppError(error, 'unavailable')) throw error // our own: the index, or the server is closing
  if (failure?.isDeferred) {
    await queue.putOff(item, false)
    return false
  }
  job.log.warn(
    { id: item.id, failure: failure?.failure, err: failure ? undefined : error },
    failure ? `not refreshed: ${failure.message}` : 'not refreshed',
  )
  const row = failure && app.platform.failures[failure.failure]
  if (row?.deactivates) {
    await setActive(item.kind, [item.id], false, app)
    await queue.done(item)
    return true
  }
  if (row?.item === 'retry' && item.attempts + 1 < MOST_ATTEMPTS) {
    await queue.putOff(item, true)
    return false
  }
  if (!row?.isUnanswered) await putBehindOthers(item, app)
  await queue.done(item)
  return false
}

const COUNTED: Record<Kind, (count: number) => Words> = {
  video: (count) => (count === 1 ? say`${{ count }} video` : say`${{ count }} videos`),
  channel: (count) => (count === 1 ? say`${{ count }} channel` : say`${{ count }} channels`),
  playlist: (count) => (count === 1 ? say`${{ count }} playlist` : say`${{ count }} playlists`),
}

function inWords(counts: Record<Kind, number>, cut: readonly Words[]): Words | null {
  const parts = Object.entries(counts).flatMap(([kind, count]) => (count ? [COUNTED[kind as Kind](count)] : []))
  if (parts.length === 0) return null
  return joined([say`${{ what: sentenceOf(joined(parts, ', ')) }} refreshed`, ...cut.slice(0, MOST_TOLD)], '; ')
}
