/** Signs of life from the reading child, so that its server can tell slow work from a disk that hangs. */

const EVERY_MS = 500
let toldMs = 0
let tell: (() => void) | undefined

/** Call it during reading, as often as needed: it reports at most twice a second. */
export function reportAlive(): void {
  if (!tell) return
  const now = performance.now()
  if (now - toldMs < EVERY_MS) return
  toldMs = now
  tell()
}

/** Sets the function that reports to the server. */
export function onAlive(told: () => void): void {
  tell = told
}
