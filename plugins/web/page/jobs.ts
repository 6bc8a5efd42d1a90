/** Tasks as they change, for what they change: told by the event stream, and after it was down. */
import { useEffect, useRef } from 'preact/hooks'
import { listen } from './events.ts'
import { gather } from './gather.ts'
import type { TaskRecord } from './records.ts'

export const isOver = ({ status }: Pick<TaskRecord, 'status'>): boolean => status !== 'PENDING' && status !== 'RETRY'

/** Many events in a row are one question. */
const REST_MS = 300

/** @param names  empty: any task */
export function useJobs(names: readonly string[], then: () => void, { onlyEnded = false } = {}): void {
  const latest = useRef(then)
  latest.current = then
  useEffect(() => {
    const { soon, end } = gather(() => latest.current(), REST_MS)
    const ends = [listen('job', (job) => (names.length === 0 || names.includes(job.name)) && (!onlyEnded || isOver(job)) && soon()), listen('missed', () => soon()), end]
    return () => ends.forEach((one) => one())
  }, [])
}

/** What such tasks have changed is read again. */
export const useTaskEnd = (names: readonly string[], then: () => void): void => useJobs(names, then, { onlyEnded: true })
