/** Opens the service `jobs`: `start.ts` adds rows, `life-and-retries.ts` runs them, `stop.ts` stops them. */
import { errors } from '../base/error.ts'
import type { LaneRule } from '../lane-rules.ts'
import { hasEnded, type Job, openJobRows } from '../ledger/jobs.ts'
import { openLaneSizes } from './lane-sizes.ts'
import { claim, recover } from './life-and-retries.ts'
import { openListeners } from './listeners.ts'
import { openNotifications } from './notifications.ts'
import { openStart } from './start.ts'
import { type Runner, taskOf } from './state.ts'
import { openStop } from './stop.ts'
import type { Handed, JobParts } from './task-definition.ts'
import type { JobChange, JobsRunner } from './types.ts'
import { untilQuiet } from './until-quiet.ts'
import { openUpkeep } from './upkeep.ts'
import { openWaiters } from './waiters.ts'

interface JobsOptions<App> extends JobParts<App>, Pick<Runner<App>, 'app' | 'within' | 'debug' | 'writable'> {
  /** The lanes that manifests declare, in addition to core's own. */
  lanes: Readonly<Record<string, LaneRule>>
}

const LISTED = 1000

export function openJobs<App extends Handed>(options: JobsOptions<App>): JobsRunner {
  const runner = newRunner(options)
  const { rows, notifications, changes, ends } = runner
  return {
    ...openStart(runner),
    ...openStop(runner),
    get: (id) => rows.get(id),
    list: ({ task, limit = LISTED } = {}) => rows.list(task, limit),
    open: (task) => rows.open(task, LISTED),
    active: (task) => rows.active(task),
    ended: (id) => ended(runner, id),
    notifications: notifications.shown,
    notify: notifications.notify,
    warn: notifications.warn,
    quiet: (job, giveUp) => untilQuiet(runner, job, giveUp),
    logOf: (id) => [...(runner.running.get(id)?.log.lines ?? rows.logOf(id))],
    watch: changes.add,
    onEnded: ends.add,
    begin: () => begin(runner),
    bringForward: runner.upkeep.bringForward,
  }
}

function newRunner<App extends Handed>({ lanes, ...parts }: JobsOptions<App>): Runner<App> {
  const { ledger, clock, log } = parts
  const rows = openJobRows(ledger, () => clock.now())
  const changes = openListeners<JobChange>(log)
  const runner: Runner<App> = {
    ...{ ...parts, rows, changes, ends: openListeners<Job>(log) },
    notifications: openNotifications({ ...parts, onChange: () => changes.tell({ notifications: true }) }),
    upkeep: openUpkeep({ ...parts, rows, onWoken: (jobs) => claimWoken(runner, jobs) }),
    claim: (lane) => claim(runner, lane),
    laneSizes: openLaneSizes(lanes),
    running: new Map(),
    own: new Set(),
    forRun: openWaiters(),
    forEnd: openWaiters(),
    isClaiming: false,
    isClosing: false,
  }
  return runner
}

async function begin<App>(runner: Runner<App>): Promise<void> {
  await recover(runner)
  runner.isClaiming = !runner.isClosing
  if (runner.isClaiming) runner.upkeep.begin()
  for (const lane of runner.laneSizes.lanes) runner.claim(lane)
}

function claimWoken<App>(runner: Runner<App>, woken: readonly Job[]): void {
  for (const job of woken) runner.changes.tell({ job })
  for (const lane of new Set(woken.map((job) => taskOf(runner, job.task).lane))) runner.claim(lane)
}

async function ended<App>({ rows, forEnd }: Runner<App>, id: string): Promise<Job> {
  const row = rows.get(id)
  if (!row) throw errors.notFound('task', id)
  return hasEnded(row) ? row : forEnd.wait(id)
}
