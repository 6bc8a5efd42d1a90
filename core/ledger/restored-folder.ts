/** Puts a restored folder (`plugins/plugin-kit/prepared-folder.ts`) in place of the data before anything is opened. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { syncFolder } from '../base/whole-file.ts'
import type { Log } from '../log.ts'
import { lockFolder } from './lock.ts'

const OFFERED = 'restored-'
const ASIDE = 'before-restore-'
const STAMP = /^([0-9]{8}T[0-9]{6})$/
/** Files of SQLite that belong to the one without an ending. */
const ENDS = ['', '-wal', '-shm', '-journal', '.damaged'] as const

/** The folder, in the data folder, that the next start takes. @param stamp  when it was prepared: `20260115T120000` */
export const offeredOf = (stamp: string): string => OFFERED + stamp
/** The folder, in the data folder, that gets what that one replaces. */
export const replacedFolderOf = (stamp: string): string => ASIDE + stamp

const stampsIn = (dataDir: string, start: string): string[] =>
  existsSync(dataDir)
    ? readdirSync(dataDir)
        .filter((name) => name.startsWith(start) && STAMP.test(name.slice(start.length)))
        .map((name) => name.slice(start.length))
    : []
/** Of folders that the next start takes: until then the ledger itself may be missing. */
export const offeredStamps = (dataDir: string): string[] => stampsIn(dataDir, OFFERED)
/** Of folders with what restores have replaced. */
export const replacedStamps = (dataDir: string): string[] => stampsIn(dataDir, ASIDE)

/** Moves each file aside, then replaces it; the next start goes on if interrupted. @throws a sentence: in use */
export function takeRestored(dataDir: string, log: Log): void {
  const [stamp] = offeredStamps(dataDir).sort().reverse()
  if (stamp === undefined) return
  const lock = lockFolder(dataDir)
  try {
    const [from, aside] = [join(dataDir, offeredOf(stamp)), join(dataDir, replacedFolderOf(stamp))]
    mkdirSync(aside, { recursive: true, mode: 0o700 })
    // A database before its companions, which would otherwise be moved aside over those of the present one.
    for (const name of readdirSync(from).sort()) {
      for (const end of ENDS)
        if (existsSync(join(dataDir, name + end))) renameSync(join(dataDir, name + end), join(aside, name + end))
      syncFolder(aside)
      renameSync(join(from, name), join(dataDir, name))
      syncFolder(dataDir)
    }
    rmdirSync(from)
    if (readdirSync(aside).length === 0) rmdirSync(aside)
    log.warn({ aside }, 'a restored backup has replaced the data, which was moved aside')
  } finally {
    lock.release()
  }
}
