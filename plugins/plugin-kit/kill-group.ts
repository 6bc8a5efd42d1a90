/** Ends a child process together with everything that it has started. */
import type { ChildProcess } from 'node:child_process'

/** Signals a child that was started with `detached`, and its own children. Does nothing once it has ended. */
export function killGroup(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {
    child.kill(signal) // its group is gone, or the system has no groups
  }
}
