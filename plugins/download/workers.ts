/**
 * Runs several items of a run concurrently: as many downloads as allowed, and the next one begins while this machine
 * merges and archives the previous one.
 */
import { type JobContext, say } from 'archivolt'
import type { DownloadDoc } from './schema.ts'

/** How a worker reports the progress of its item. */
export interface Worker {
  /** @param fraction  0–1 */
  report(fraction: number): void
  /** Called when all streams have arrived. */
  fetched(): void
}

interface Work {
  title: string
  fraction: number
  isFetched: boolean
}

export type Workers = ReturnType<typeof openWorkers>

export function openWorkers(job: Pick<JobContext<object>, 'progress' | 'signal'>) {
  const works = new Map<string, Work>()
  const waiting = new Set<() => void>()
  let failure: { error: unknown } | undefined

  const fetching = (): Work[] => [...works.values()].filter(({ isFetched }) => !isFetched)

  function tell(): void {
    const shown = fetching().length > 0 ? fetching() : [...works.values()]
    const sum = shown.reduce((all, { fraction }) => all + fraction, 0)
    job.progress(sum / shown.length, ...shown.map(({ title }) => say`Downloading ${{ title }}`))
  }

  /** Resolves when an item has been downloaded or has ended, or when `wake` is called. */
  const change = (): Promise<void> => new Promise((resolve) => waiting.add(resolve))

  /** Wakes the run, because there may be another item to begin. */
  function wake(): void {
    for (const resolve of [...waiting]) resolve()
    waiting.clear()
  }

  /** Resolves when no item is in progress. @throws the error of a worker */
  async function ended(): Promise<void> {
    while (works.size > 0) await change()
    if (failure) throw failure.error
  }

  return {
    areBusy: () => works.size > 0,
    ids: () => [...works.keys()],
    ...{ change, wake, ended },

    /**
     * Resolves when another item may begin, so that at most the allowed number of downloads runs, and one more that is
     * being merged.
     * @throws the error of a worker, once all have ended; the signal's reason
     */
    async slot(atOnce: () => number): Promise<void> {
      const isFull = () => works.size > atOnce() || fetching().length >= atOnce()
      while (isFull() && !failure) await change()
      if (failure) await ended()
      job.signal.throwIfAborted()
    },

    /** Begins an item. An error ends the run when all others have ended. */
    begin({ platform_id: id, title }: DownloadDoc, work: (worker: Worker) => Promise<void>): void {
      const own: Work = { title, fraction: 0, isFetched: false }
      works.set(id, own)
      tell()
      const worker: Worker = {
        report: (fraction) => {
          own.fraction = fraction
          tell()
        },
        fetched: () => {
          own.isFetched = true
          wake()
        },
      }
      work(worker)
        .catch((error: unknown) => {
          failure ??= { error }
        })
        .finally(() => {
          works.delete(id)
          wake()
        })
    },
  }
}
