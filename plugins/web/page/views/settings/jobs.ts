/** Tasks as they end, for what they have changed: by the event stream, or when a notification goes while the page polls. */
import { effect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { connection, listen, notifications } from '../../events.ts'
import type { TaskRecord } from '../../records.ts'

export const isOver = ({ status }: Pick<TaskRecord, 'status'>): boolean => status !== 'PENDING' && status !== 'RETRY'

/** Many events in a row are one question. */
const REST_MS = 300

/** @param names  empty: any task */
export function useJobs(names: readonly string[], then: () => void): void {
  const latest = useRef(then)
  latest.current = then
  useEffect(() => {
    let timer: number | undefined
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        latest.current()
      }, REST_MS)
    }
    const end = listen('job', ({ name }) => (names.length === 0 || names.includes(name)) && soon())
    let before = ''
    const stop = effect(() => {
      const shown = notifications.value.map(({ id }) => id).join()
      if (connection.value !== 'connected' && before !== '' && shown !== before) soon()
      before = shown
    })
    return () => {
      end()
      stop()
      clearTimeout(timer)
    }
  }, [])
}
