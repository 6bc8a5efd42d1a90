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

type Run = Pick<JobContext<object>, 'progress' | 'signal'>

export class Workers {
  #job: Run
  #works = new Map<string, Work>()
  #failure: { error: unknown } | undefined
  #waiting = new Set<() => void>()

  constructor(job: Run) {
    this.#job = job
  }

  get areBusy(): boolean {
    return this.#works.size > 0
  }

  get ids(): string[] {
    return [...this.#works.keys()]
  }

  /**
   * Resolves when another item may begin, so that at most the allowed number of downloads runs, and one more that is
   * being merged.
   * @throws the error of a worker, once all have ended; the signal's reason
   */
  async place(atOnce: () => number): Promise<void> {
    const isFull = () => this.#works.size > atOnce() || this.#fetching().length >= atOnce()
    while (isFull() && !this.#failure) await this.change()
    if (this.#failure) await this.ended()
    this.#job.signal.throwIfAborted()
  }

  /** Resolves when an item has been downloaded or has ended, or when `wake` is called. */
  change(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  /** Wakes the run, because there may be another item to begin. */
  wake(): void {
    for (const resolve of [...this.#waiting]) resolve()
    this.#waiting.clear()
  }

  /** Begins an item. An error ends the run when all others have ended. */
  begin({ platform_id: id, title }: DownloadDoc, work: (worker: Worker) => Promise<void>): void {
    const own: Work = { title, fraction: 0, isFetched: false }
    this.#works.set(id, own)
    this.#tell()
    const worker: Worker = {
      report: (fraction) => {
        own.fraction = fraction
        this.#tell()
      },
      fetched: () => {
        own.isFetched = true
        this.wake()
      },
    }
    work(worker)
      .catch((error: unknown) => {
        this.#failure ??= { error }
      })
      .finally(() => {
        this.#works.delete(id)
        this.wake()
      })
  }

  /** Resolves when no item is in progress. @throws the error of a worker */
  async ended(): Promise<void> {
    while (this.areBusy) await this.change()
    if (this.#failure) throw this.#failure.error
  }

  #fetching(): Work[] {
    return [...this.#works.values()].filter(({ isFetched }) => !isFetched)
  }

  #tell(): void {
    const shown = this.#fetching().length > 0 ? this.#fetching() : [...this.#works.values()]
    const sum = shown.reduce((all, { fraction }) => all + fraction, 0)
    this.#job.progress(sum / shown.length, ...shown.map(({ title }) => say`Downloading ${{ title }}`))
  }
}
