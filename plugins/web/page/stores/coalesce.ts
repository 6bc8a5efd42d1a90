/** Many reasons within a moment to do something are one. */

/** `soon`: does it so many milliseconds after the first call, once for all calls until then. `end`: not any more. */
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
