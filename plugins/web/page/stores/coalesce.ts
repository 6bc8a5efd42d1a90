/** Combines many calls within a short time into one. */

/**
 * `soon`: runs the work this many milliseconds after the first call, once for all calls until then. `end`: cancels it.
 */
export function coalesce(act: () => void, ms: number): { soon: (wait?: number) => void; end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    soon(wait = ms): void {
      timer ??= setTimeout(() => {
        timer = undefined
        act()
      }, wait)
    },
    end(): void {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
