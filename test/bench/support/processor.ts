/**
 * A part of one processor for programs started in it: a group of the kernel's (cgroup, version 1 or 2), made where this
 * process may.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_US = 100_000

export interface ProcessorGroup {
  /** What `start` starts before it returns is in the group, with all that it starts later. */
  within<Value>(start: () => Value): Value
  /** How often the group had to wait for its next turn. */
  waits(): number
  /** To be called when all its programs have ended. */
  remove(): void
}

/** Where groups with a share of the processor are made, and where this process is. */
interface Place {
  parent: string
  own: string
  limit: (group: string, quotaUs: number) => void
}

/** @returns why not, where it may not */
export function openProcessorGroup(share: number): ProcessorGroup | string {
  const refused: string[] = []
  for (const { parent, own, limit } of places()) {
    const group = join(parent, `archivolt-bench-${process.pid}`)
    try {
      mkdirSync(group)
      limit(group, share * PERIOD_US)
      move(group)
      move(own)
    } catch (error) {
      refused.push((error as Error).message)
      remove(group)
      continue
    }
    process.once('exit', () => remove(group)) // also where a bench breaks off
    return {
      within(start) {
        move(group)
        try {
          return start()
        } finally {
          move(own)
        }
      },
      waits: () => Number(/nr_throttled (\d+)/.exec(readFileSync(join(group, 'cpu.stat'), 'utf8'))?.[1]),
      remove: () => remove(group),
    }
  }
  return refused.join('; ') || 'no group of processes here has a share of the processor'
}

const move = (group: string) => writeFileSync(join(group, 'cgroup.procs'), String(process.pid))

function remove(group: string): void {
  try {
    rmdirSync(group)
  } catch {
    // It was never made, or a program in it is still ending: an empty group does no harm.
  }
}

function places(): Place[] {
  const groups = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.+)$/.exec(line) ?? [])
  return readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap(([, mount = '', type, options = '']): Place[] => {
      const ownUnder = (isOurs: (controllers: string) => boolean) =>
        join(mount, groups.find(([, controllers]) => controllers !== undefined && isOurs(controllers))?.[2] ?? '/')
      if (type === 'cgroup' && options.split(',').includes('cpu')) {
        const own = ownUnder((controllers) => controllers.split(',').includes('cpu'))
        return [{ parent: own, own, limit: limitOld }]
      }
      if (type !== 'cgroup2') return []
      const own = ownUnder((controllers) => controllers === '')
      // A group that has processes gives its children no share, but for the root.
      return [...new Set([own, mount])].map((parent) => ({ parent, own, limit: limitNew }))
    })
}

function limitOld(group: string, quotaUs: number): void {
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US))
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quotaUs))
}

function limitNew(group: string, quotaUs: number): void {
  writeFileSync(join(group, '..', 'cgroup.subtree_control'), '+cpu')
  writeFileSync(join(group, 'cpu.max'), `${quotaUs} ${PERIOD_US}`)
}
