/** Combines many calls within a short time into one. */

/**
 * `soon`: runs the work this many milliseconds after the first call, once for all calls until then. If the work returns
 * a promise, the next run begins after it. `end`: cancels it.
 */
export function coalesce(act: () => unknown, ms: number): { soon: (wait?: number) => void; end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isRunning = false
  /** The wait of a call during a run. */
  let next: number | undefined

  async function run(): Promise<void> {
    timer = undefined
    isRunning = true
    try {
      await act()
    } finally {
      isRunning = false
      const wait = next
      next = undefined
      if (wait !== undefined) soon(wait)
    }
  }

  function soon(wait = ms): void {
    if (isRunning) next ??= wait
    else timer ??= setTimeout(run, wait)
  }

  return {
    soon,
    end(): void {
      clearTimeout(timer)
      timer = next = undefined
    },
  }
}
