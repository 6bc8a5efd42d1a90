/** The external plugins that an admin has switched off while the server ran: a file, read before any is loaded. */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { readJson } from '../base/json-file.ts'
import { writeWhole } from '../base/whole-file.ts'
import { holdFile } from '../ledger/lock.ts'

const Names = Type.Array(Type.String())
const WAIT_MS = 10_000 // a process holds the lock only for one change
const fileOf = (dataDir: string): string => join(dataDir, 'plugins', 'off.json')

/** A missing or damaged file counts as an empty one. */
export const readSwitchedOff = async (dataDir: string): Promise<string[]> =>
  (await readJson(fileOf(dataDir), Names)) ?? []

/** Waits for other processes. Within a process, await each call before the next one. */
export async function writeSwitchedOff(dataDir: string, name: string, isOff: boolean): Promise<void> {
  const file = fileOf(dataDir)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const lock = holdFile(join(dirname(file), '.off-lock'), undefined, WAIT_MS)
  try {
    const before = await readSwitchedOff(dataDir)
    const others = before.filter((one) => one !== name)
    if (before.includes(name) !== isOff) await writeWhole(file, JSON.stringify(isOff ? [...others, name] : others))
  } finally {
    lock.release()
  }
}
