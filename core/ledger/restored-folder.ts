/**
 * Puts what a restore has prepared in place of the present data, before anything of it is opened. A plugin prepares it in
 * `<data>/restored.part`, laid out like the data folder, and `offerRestored` makes it the next start's.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../base/whole-file.ts'
import type { Log } from '../log.ts'
import { lockFolder } from './lock.ts'

const OFFERED = /^restored-([0-9]{8}T[0-9]{6})$/
const ASIDE = /^before-restore-([0-9]{8}T[0-9]{6})$/
/** Files of SQLite that belong to the one without an ending. */
const ENDS = ['', '-wal', '-shm', '-journal', '.damaged'] as const

/** Where a restore prepares a folder; what an interrupted one has left there is of no use. */
export const preparedFolder = (dataDir: string): string => join(dataDir, 'restored.part')

/**
 * From now on the next start takes the prepared folder; an earlier one that no start has taken is dropped.
 * @returns the folder, in the data folder, to which the replaced files will be moved
 */
export async function offerRestored(dataDir: string, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')
  syncFolder(preparedFolder(dataDir))
  await dropOffered(dataDir)
  renameSync(preparedFolder(dataDir), join(dataDir, `restored-${stamp}`))
  syncFolder(dataDir)
  return asideOf(stamp)
}

/** Whether the next start takes a folder: until then the ledger itself may be missing. */
export const isOffered = (dataDir: string): boolean => existsSync(dataDir) && offeredIn(dataDir).length > 0

/** The next start takes no folder. */
export async function dropOffered(dataDir: string): Promise<void> {
  for (const name of offeredIn(dataDir)) await rm(join(dataDir, name), { recursive: true })
}

export interface AsideFolder {
  name: string
  /** Epoch seconds: when the restore was prepared. */
  at: number
}

/** Folders with what restores have replaced, newest first. */
export const asideFolders = (dataDir: string): AsideFolder[] =>
  readdirSync(dataDir)
    .flatMap((name) => {
      const stamp = ASIDE.exec(name)?.[1]
      return stamp === undefined ? [] : [{ name, at: secondsOf(stamp) }]
    })
    .sort((one, other) => other.at - one.at)

/** Epoch seconds: when the folder that the next start takes was prepared; undefined: there is none. */
export function offeredAt(dataDir: string): number | undefined {
  const [stamp] = offeredIn(dataDir).map((name) => secondsOf(OFFERED.exec(name)![1]!))
  return stamp
}

const secondsOf = (stamp: string): number =>
  Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)$/, '$1-$2-$3T$4:$5:$6Z')) / 1000

const asideOf = (stamp: string): string => `before-restore-${stamp}`
const offeredIn = (dataDir: string): string[] => readdirSync(dataDir).filter((name) => OFFERED.test(name))

/**
 * Each file is first moved aside, then replaced: after an interruption at any step, the next start goes on.
 * @throws a sentence: another process is using the data folder
 */
export function takeRestored(dataDir: string, log: Log): void {
  const [offered] = offeredIn(dataDir).sort().reverse()
  if (offered === undefined) return
  const lock = lockFolder(dataDir)
  try {
    const [from, aside] = [join(dataDir, offered), join(dataDir, asideOf(OFFERED.exec(offered)![1]!))]
    mkdirSync(aside, { recursive: true, mode: 0o700 })
    for (const name of readdirSync(from)) {
      for (const end of ENDS)
        if (existsSync(join(dataDir, name + end))) renameSync(join(dataDir, name + end), join(aside, name + end))
      syncFolder(aside)
      renameSync(join(from, name), join(dataDir, name))
      syncFolder(dataDir)
    }
    rmdirSync(from)
    if (readdirSync(aside).length === 0) rmdirSync(aside)
    log.warn({ aside }, 'a restored backup has taken the place of the data, which is kept aside')
  } finally {
    lock.release()
  }
}
