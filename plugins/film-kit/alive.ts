/** Signs of life of the reading child: what takes long and goes on is told from a disk that hangs. */

const EVERY_MS = 500
let toldMs = 0
let tell: (() => void) | undefined

/** To be called by what reads on, however often. */
export function tellAlive(): void {
  if (!tell) return
  const now = performance.now()
  if (now - toldMs < EVERY_MS) return
  toldMs = now
  tell()
}

/** Who is told, and how. */
export function onAlive(told: () => void): void {
  tell = told
}
