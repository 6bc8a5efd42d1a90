/** A ledger in a temporary folder with jobs, for the tests of core/jobs. */

import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Type } from 'typebox'
import { type EventBus, openEventBus } from '../../../core/events.ts'
import { openJobs } from '../../../core/jobs/open-jobs.ts'
import type { JobsRunner } from '../../../core/jobs/types.ts'
import { type OpenedLedger, openLedger } from '../../../core/ledger/sqlite.ts'
import { type Log, openLog } from '../../../core/log.ts'
import { defineTask, type Task, type TaskDefinition, type WholeApp } from '../../../core/plugin/define.ts'
import { type Lanes, openLanes } from '../../../plugins/plugin-kit/lanes.ts'
import { type TestClock, testClock } from '../../support/clock.ts'

export interface Workshop {
  folder: string
  ledger: OpenedLedger
  clock: TestClock
  log: Log
  events: EventBus
  jobs: JobsRunner
  lanes: Lanes
  tasks: Map<string, Task>
  within<Result>(task: object, work: () => Result): Result
  isOff(task: object): boolean
  /** Opens the same folder again, as a new process would. */
  reopen(tasks?: readonly Task[]): Promise<Workshop>
  close(): Promise<void>
}

export const silentLog = (): Log => openLog('silent')

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'archivolt-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export async function openWorkshop(
  t: TestContext,
  tasks: readonly Task[],
  {
    folder = temporaryFolder(t),
    clock = testClock(),
    debug = false,
    lanes: names = ['item'],
    sizes = {} as Record<string, number>,
  } = {},
): Promise<Workshop> {
  const log = silentLog()
  const ledger = await openLedger({ file: join(folder, 'ledger.sqlite'), log, clock })
  const events = openEventBus()
  const byName = new Map(tasks.map((task) => [task.name, task]))
  const lanes = openLanes({ clock, lanes: names })
  const app = {
    emit: (name: 'job.step', event: never) => events.emit(name, event),
    lanes,
    clock,
    log,
    ledger,
  } as unknown as WholeApp
  const within = <Result>(_task: object, work: () => Result) => work()
  const jobs = openJobs({
    ledger,
    clock,
    log,
    tasks: byName,
    lanes: { ...Object.fromEntries(names.map((name) => [name, 'turns' as const])), ...sizes },
    app: () => app,
    within,
    debug,
    writable: async () => undefined,
  })
  const close = async () => {
    await jobs.close()
    await ledger.close()
  }
  t.after(close)
  return {
    folder,
    ledger,
    clock,
    log,
    events,
    jobs,
    lanes,
    tasks: byName,
    within,
    isOff: () => false,
    async reopen(others = tasks) {
      await close()
      return openWorkshop(t, others, { folder, clock, debug, lanes: names })
    },
    close,
  }
}

const Anything = Type.Object({})
type TaskOfAnything = TaskDefinition<typeof Anything>

/** A task without a payload, by default in the lane `light`. */
export const aTask = (name: string, fields: Partial<TaskOfAnything> & Pick<TaskOfAnything, 'run'>): Task =>
  defineTask<typeof Anything, WholeApp>({
    name,
    title: name.charAt(0).toUpperCase() + name.slice(1),
    payload: Anything,
    lane: 'light',
    ...fields,
  })

/** A gate at which work waits until the test opens it. */
export function gate(): { passed: Promise<void>; open: () => void; fail: (error: unknown) => void } {
  let open: () => void = () => undefined
  let fail: (error: unknown) => void = () => undefined
  const passed = new Promise<void>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  passed.catch(() => undefined)
  return { passed, open, fail }
}

/** Waits for the abort, like a task that respects its signal. */
export async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

/** Polls until the condition holds. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
