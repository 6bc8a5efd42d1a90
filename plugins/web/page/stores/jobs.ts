/**
 * Follows tasks, for views that show their results: by the event stream, and again after an interruption of the stream.
 */
import { useEffect, useRef } from 'preact/hooks'
import { get, toFailure } from '../server/api.ts'
import { listen } from '../server/events.ts'
import type { TaskRecord } from '../server/records.ts'
import { coalesce } from './coalesce.ts'

export const isOver = ({ status }: Pick<TaskRecord, 'status'>): boolean => status !== 'PENDING' && status !== 'RETRY'

/** Delay of a call, so that a burst of events causes only one. */
const REST_MS = 300

/** @param names  empty: any task */
export function useJobs(names: readonly string[], then: () => void, { onlyEnded = false } = {}): void {
  const latest = useRef(then)
  latest.current = then
  useEffect(() => {
    const { soon, end } = coalesce(() => latest.current(), REST_MS)
    const ends = [
      listen('job', (job) => (names.length === 0 || names.includes(job.name)) && (!onlyEnded || isOver(job)) && soon()),
      listen('missed', () => soon()),
      end,
    ]
    return () => ends.forEach((one) => one())
  }, [])
}

/** Reloads when one of these tasks may have ended. */
export const useTaskEnd = (names: readonly string[], then: () => void): void =>
  useJobs(names, then, { onlyEnded: true })

/** Interval of polling, for the case that the event stream misses the end of a task. */
const ASK_MS = 10_000

/**
 * Waits for the end of a task.
 * @throws Failure  the server no longer has a record of it, or the session has ended
 */
export function taskOver(id: string): Promise<TaskRecord> {
  return new Promise((resolve, reject) => {
    const poll = () =>
      void get<TaskRecord>(`/api/task-id/${id}/`).then(settle, (error: unknown) => {
        const { status } = toFailure(error)
        if (status === 404 || status === 401) settle(undefined, error)
      })
    const ends = [listen('job', (job) => job.task_id === id && settle(job)), listen('missed', poll)]
    const timer = setInterval(poll, ASK_MS)
    function settle(job: TaskRecord | undefined, error?: unknown): void {
      if (job && !isOver(job)) return
      clearInterval(timer)
      for (const end of ends) end()
      if (job) resolve(job)
      else reject(error)
    }
    poll()
  })
}
