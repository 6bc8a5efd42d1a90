/** Starts a job: adds its row, or merges into the open row of a unique job. Its lane, or the caller, then begins it. */
import { randomUUID } from 'node:crypto'
import { errors } from '../base/error.ts'
import { say } from '../base/say.ts'
import { OWN_LANES } from '../lane-rules.ts'
import { begin, writeBegun } from './life-and-retries.ts'
import { checkPayload, keyOf, mergedPayload } from './payload.ts'
import { CLOSING_TEXT, type Runner, taskOf } from './state.ts'
import type { AnyTask, Handed } from './task-definition.ts'
import type { Jobs } from './types.ts'
import { LONGEST_DELAY_SECONDS } from './upkeep.ts'

export function openStart<App extends Handed>(runner: Runner<App>) {
  const { ledger, rows, clock, changes, running, claim, upkeep, writable, forRun } = runner

  return {
    async start(asked, payload = {}, { isPatient = false, afterSeconds = 0, replace = false } = {}) {
      const task = taskOf(runner, asked)
      const checked = checkPayload(task, payload)
      const key = keyOf(task, checked)
      if (!(afterSeconds >= 0 && afterSeconds <= LONGEST_DELAY_SECONDS))
        throw errors.badRequest(say`A start can be delayed by at most ${{ days: LONGEST_DELAY_SECONDS / 86_400 }} days`)
      if (replace && key === null)
        throw errors.badRequest(say`“${{ task: task.title }}” is not unique, so one start cannot replace another`)
      const job = await ledger.write(() => {
        const dueAt = afterSeconds > 0 ? clock.now() + afterSeconds * 1000 : null
        const open = key === null ? undefined : rows.openUnique(task.name, key)
        if (!open) return rows.add(newRow(task, checked, key), dueAt)
        // The payload of a stopped run no longer counts: only what is requested after the stop.
        const isTakenBack = open.state === 'STARTED' && open.command !== null && !open.again
        const payload = isTakenBack || replace ? checked : mergedPayload(task, open.payload, checked)
        return rows.meet(open.id, payload, { isNow: !isPatient && dueAt === null, dueAt, replaces: replace })
      })
      if (job.state === 'RETRY') upkeep.wakeInTime()
      const met = running.get(job.id)
      if (met) met.payload = job.payload
      changes.tell({ job })
      claim(task.lane)
      return job
    },

    async run(asked, payload = {}) {
      const task = taskOf(runner, asked)
      const checked = checkPayload(task, payload)
      await writable()
      const key = keyOf(task, checked)
      const isAtOnce = task.lane in OWN_LANES
      const { job, isMine } = await ledger.write(() => {
        if (runner.isClosing) throw errors.unavailable(CLOSING_TEXT)
        const open = key === null ? undefined : rows.openUnique(task.name, key)
        if (open?.state === 'STARTED') return { job: open, isMine: false }
        if (open && !isAtOnce)
          return { job: rows.meet(open.id, mergedPayload(task, open.payload, checked), { isNow: true }), isMine: false }
        const job = open
          ? rows.take(open.id, mergedPayload(task, open.payload, checked))
          : rows.add(newRow(task, checked, key), isAtOnce ? 'now' : null)
        if (isAtOnce) writeBegun(runner, job)
        return { job, isMine: isAtOnce }
      })
      const result = forRun.wait(job.id)
      changes.tell({ job })
      if (isMine) begin(runner, job, { isAwaited: true, hasSlot: false })
      else claim(task.lane)
      return result
    },
  } satisfies Partial<Jobs>
}

const newRow = (task: AnyTask, payload: Record<string, unknown>, uniqueKey: string | null) => ({
  id: randomUUID(),
  task: task.name,
  lane: task.lane,
  uniqueKey,
  internal: task.internal ?? false,
  payload,
})
