/** Collects the last log lines of a job while it runs, in addition to the server's log. */
import { format } from 'node:util'
import type { Clock } from '../base/clock.ts'
import { saidBy, withoutPaths } from '../base/error.ts'
import type { LogLine } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'

const KEPT_LINES = 200
const LONGEST_LINE = 1000
const LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const
type Level = (typeof LEVELS)[number]

export interface JobLog {
  readonly log: Log
  readonly lines: readonly LogLine[]
}

/** Also collects its sentences and those of its children, but not the objects beside them, which may have secrets. */
export function openJobLog(
  parent: Log,
  bindings: Record<string, unknown>,
  clock: Clock,
  earlier: readonly LogLine[],
): JobLog {
  const lines = [...earlier]
  const collect = (level: Level, args: unknown[]) => {
    lines.push({
      time: new Date(clock.now()).toISOString(),
      level,
      message: withoutPaths(sentenceOf(args).slice(0, LONGEST_LINE)),
    })
    if (lines.length > KEPT_LINES) lines.splice(0, lines.length - KEPT_LINES)
  }
  const attach = (log: Log): Log => {
    for (const level of LEVELS) {
      const write = log[level] as (this: Log, ...args: unknown[]) => void
      log[level] = function (this: Log, ...args: unknown[]) {
        if (level !== 'debug' || this.isLevelEnabled('debug')) collect(level, args)
        write.apply(this, args)
      }
    }
    // A child inherits these methods unless it was given its own level.
    log.onChild = (child) => {
      if (Object.hasOwn(child, 'info')) attach(child as Log)
    }
    return log
  }
  return { log: attach(parent.child(bindings)), lines }
}

function sentenceOf([first, ...rest]: unknown[]): string {
  if (typeof first === 'string') return format(first, ...rest)
  const fault = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err
  const said = rest.length > 0 ? format(...rest) : ''
  if (!(fault instanceof Error)) return said
  return said === '' ? saidBy(fault) : `${said}: ${saidBy(fault)}`
}
