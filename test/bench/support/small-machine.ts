/**
 * Gives programs a part of one processor and of the memory, by control groups (cgroup, version 1 or 2), if this process
 * may create them.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PERIOD_US = 100_000

interface Size {
  /** Share of one processor. */
  share: number
  /** For all programs together, including the page cache of their files. */
  memoryMb: number
}

export interface SmallMachine {
  /** Everything that `start` starts before it returns is in the group, with all its later children. */
  within<Value>(start: () => Value): Value
  /** How often the group was throttled. */
  waits(): number
  /** Call it when all programs of the group have ended. */
  remove(): void
}

/** The folder in which a limiting group is created, and the group of this process. */
interface Place {
  parent: string
  own: string
  limit: (group: string, size: Size) => void
}

/** @returns a reason if this process may not create groups */
export function openSmallMachine(size: Size): SmallMachine | string {
  const refused: string[] = []
  for (const all of places()) {
    const made = all.map(({ parent, own, limit }) => ({
      ...{ own, limit },
      group: join(parent, `archivolt-bench-${process.pid}`),
    }))
    const enter = () => made.forEach(({ group }) => move(group))
    const leave = () => made.forEach(({ own }) => move(own))
    const removeAll = () => made.forEach(({ group }) => remove(group))
    try {
      for (const { group, limit } of made) {
        mkdirSync(group)
        limit(group, size)
      }
      enter()
      leave()
    } catch (error) {
      refused.push((error as Error).message)
      removeAll()
      continue
    }
    process.once('exit', removeAll) // also where a bench breaks off
    return {
      within(start) {
        enter()
        try {
          return start()
        } finally {
          leave()
        }
      },
      waits: () => Number(/nr_throttled (\d+)/.exec(readFileSync(join(made[0]!.group, 'cpu.stat'), 'utf8'))?.[1]),
      remove: removeAll,
    }
  }
  return refused.join('; ') || 'no group of processes here has a share of processor and memory'
}

const move = (group: string) => writeFileSync(join(group, 'cgroup.procs'), String(process.pid))

function remove(group: string): void {
  try {
    rmdirSync(group)
  } catch {
    // The group was never created, or a program in it is still ending; an empty group does no harm.
  }
}

/** The ways to limit both, each as groups that are entered together, the processor's first. */
function places(): Place[][] {
  const groups = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => /^\d+:([^:]*):(.+)$/.exec(line) ?? [])
  const mounts = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
  const ownUnder = (mount: string, isOurs: (controllers: string) => boolean) =>
    join(mount, groups.find(([, controllers]) => controllers !== undefined && isOurs(controllers))?.[2] ?? '/')

  const olderPlaces = [
    { controller: 'cpu', limit: limitProcessor },
    { controller: 'memory', limit: limitMemory },
  ].flatMap(({ controller, limit }): Place[] => {
    const has = (controllers: string) => controllers.split(',').includes(controller)
    const [, mount] = mounts.find(([, , type, options = '']) => type === 'cgroup' && has(options)) ?? []
    if (mount === undefined) return []
    const own = ownUnder(mount, has)
    return [{ parent: own, own, limit }]
  })
  const newer = mounts.flatMap(([, mount = '', type]): Place[][] => {
    if (type !== 'cgroup2') return []
    const own = ownUnder(mount, (controllers) => controllers === '')
    // A group that has processes passes no controllers to its children, except for the root.
    return [...new Set([own, mount])].map((parent) => [{ parent, own, limit: limitBoth }])
  })
  return olderPlaces.length === 2 ? [olderPlaces, ...newer] : newer
}

function limitProcessor(group: string, { share }: Size): void {
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US))
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(share * PERIOD_US))
}

const limitMemory = (group: string, { memoryMb }: Size): void =>
  writeFileSync(join(group, 'memory.limit_in_bytes'), `${memoryMb}M`)

function limitBoth(group: string, { share, memoryMb }: Size): void {
  writeFileSync(join(group, '..', 'cgroup.subtree_control'), '+cpu +memory')
  writeFileSync(join(group, 'cpu.max'), `${share * PERIOD_US} ${PERIOD_US}`)
  writeFileSync(join(group, 'memory.max'), `${memoryMb}M`)
}
