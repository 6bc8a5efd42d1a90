/**
 * Opens the service `jobs` and creates the state that the other modules share: `start.ts` adds rows,
 * `life-and-retries.ts` runs and retries them, `stop.ts` stops them.
 */
import type { Clock } from '../base/clock.ts'
import { errors } from '../base/error.ts'
import type { LaneRule } from '../lane-rules.ts'
import { hasEnded, type Job, openJobRows } from '../ledger/jobs.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { type LaneSizes, openLaneSizes } from './lane-sizes.ts'
import { claim, recover } from './life-and-retries.ts'
import { openListeners } from './listeners.ts'
import { openNotifications } from './notifications.ts'
import { untilQuiet } from './quiet.ts'
import { openStart } from './start.ts'
import { type Runner, taskOf } from './state.ts'
import { openStop } from './stop.ts'
import type { AnyTask, Handed } from './task-definition.ts'
import type { JobChange, JobsRunner } from './types.ts'
import { openUpkeep } from './upkeep.ts'
import { openWaiters } from './waiters.ts'

interface JobsOptions<App> {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask<App>>
  /** The lanes that manifests declare, in addition to core's own. */
  lanes: Readonly<Record<string, LaneRule>>
  /** The app that a task receives. Called when a job runs: jobs are opened before the app is complete. */
  app: (task: AnyTask<App>) => App
  /** Runs code of a task's plugin. @throws unavailable  the plugin is stopped */
  within?: <Result>(task: AnyTask<App>, work: () => Result) => Result
  /** Whether failures store their traceback. */
  debug: boolean
  /** Awaited before `run` begins a job: during a restore it refuses requests and makes jobs wait. */
  writable?: () => Promise<void>
}

const LISTED = 1000

/** @throws a sentence: a task names a lane that nobody declares */
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
  }
}

function newRunner<App extends Handed>(options: JobsOptions<App>): Runner<App> {
  const {
    ledger,
    clock,
    log,
    tasks,
    app,
    debug,
    writable = () => Promise.resolve(),
    within = (_task, work) => work(),
  } = options
  const rows = openJobRows(ledger, () => clock.now())
  const changes = openListeners<JobChange>(log)
  const onChange = () => changes.tell({ notifications: true })
  const runner: Runner<App> = {
    ...{ ledger, rows, clock, log, tasks, app, within, debug, writable, changes, ends: openListeners<Job>(log) },
    notifications: openNotifications({ ledger, clock, log, tasks, onChange }),
    upkeep: openUpkeep({
      ...{ ledger, rows, clock, log, tasks: tasks.values() },
      onWoken: (jobs) => claimWoken(runner, jobs),
    }),
    claim: (lane) => claim(runner, lane),
    laneSizes: laneSizesFor(options),
    running: new Map(),
    own: new Set(),
    forRun: openWaiters(),
    forEnd: openWaiters(),
    isClaiming: false,
    isClosing: false,
  }
  return runner
}

/** @throws a sentence: a task names a lane that nobody declares */
function laneSizesFor<App>({ tasks, lanes }: JobsOptions<App>): LaneSizes {
  const sizes = openLaneSizes(lanes)
  for (const task of tasks.values()) {
    if (!sizes.has(task.lane))
      throw new Error(`The task ${task.name} is in the lane ${task.lane}, which no plugin declares`)
  }
  return sizes
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
