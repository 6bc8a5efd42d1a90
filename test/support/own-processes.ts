/**
 * Runs a program and ends everything that it has started, even if the run is interrupted. Processes are recognized by
 * TMPDIR, which every process of a run inherits, because browsers and search servers leave the process group.
 */
import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

/** How long processes may take to end by themselves. */
const GRACE_MS = 5000
const LOOK_AGAIN_MS = 50

/**
 * @param folder  used by this run alone
 * @returns the exit code; if the run was interrupted, 128 plus the signal's number
 */
export async function runWhole(
  program: string,
  args: readonly string[],
  { folder, cwd, env }: { folder: string; cwd?: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  let interrupted: 'SIGINT' | 'SIGTERM' | undefined
  let ending: Promise<void> | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      interrupted ??= signal
      ending ??= endProcessesOf(folder)
    })
  const child = spawn(program, args, { cwd, env: { ...env, TMPDIR: folder }, stdio: 'inherit' })
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  await ending
  // A process may have been started in the meantime.
  await endProcessesOf(folder)
  return interrupted ? 128 + constants.signals[interrupted] : (code ?? 1)
}

async function endProcessesOf(folder: string): Promise<void> {
  const asked = new Set<number>()
  const graceUntil = Date.now() + GRACE_MS
  for (let left = await processesOf(folder); left.length > 0; left = await processesOf(folder)) {
    const isOver = Date.now() > graceUntil
    for (const pid of left) if (isOver || !asked.has(pid)) end(pid, isOver ? 'SIGKILL' : 'SIGTERM')
    for (const pid of left) asked.add(pid)
    await delay(LOOK_AGAIN_MS)
  }
}

function end(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {} // it has already ended
}

/** Returns none if the system does not show environments; then the program ends its own children. */
async function processesOf(folder: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => [])
  const pids = names.map(Number).filter((pid) => pid > 0 && pid !== process.pid)
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')))
  const isOfRun = (text: string): boolean =>
    text.split('\0').some((one) => one === `TMPDIR=${folder}` || one.startsWith(`TMPDIR=${folder}/`))
  return pids.filter((_, at) => isOfRun(environments[at]!))
}
