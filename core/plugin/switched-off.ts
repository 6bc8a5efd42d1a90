/** The external plugins that an admin has switched off while the server ran: a file, read before any is loaded. */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Type } from 'typebox'
import { readJson } from '../base/json-file.ts'
import { writeWhole } from '../base/whole-file.ts'

const Names = Type.Array(Type.String())
const fileOf = (dataDir: string): string => join(dataDir, 'plugins', 'off.json')

/** A missing or damaged file counts as an empty one. */
export const readSwitchedOff = async (dataDir: string): Promise<string[]> =>
  (await readJson(fileOf(dataDir), Names)) ?? []

export async function writeSwitchedOff(dataDir: string, name: string, isOff: boolean): Promise<void> {
  const before = await readSwitchedOff(dataDir)
  if (before.includes(name) === isOff) return
  const others = before.filter((one) => one !== name)
  await mkdir(dirname(fileOf(dataDir)), { recursive: true, mode: 0o700 })
  await writeWhole(fileOf(dataDir), JSON.stringify(isOff ? [...others, name] : others))
}
