/**
 * Recovers from an unusable ledger: with the newest good copy, otherwise with what a plugin can salvage, otherwise with
 * a blank ledger.
 */
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  isDamage,
  joined,
  type LedgerFault,
  mustBeWhole,
  removeUnfinished,
  type Salvage,
  type SalvageParts,
  say,
  sentenceOf,
  syncFile,
  syncFolder,
  type Words,
} from 'archivolt'
import { copiesFolder, copiesOf, keepForGood, stampOf } from './copies.ts'

const FAULTS = {
  missing: sentenceOf(say`missing`),
  empty: sentenceOf(say`empty`),
  damaged: sentenceOf(say`damaged`),
}

const ENDS = ['', '-wal', '-shm'] as const

interface Recovery extends SalvageParts {
  file: string
  salvage: Salvage | undefined
}

/**
 * The file that marks damage found by a running server: the next start checks the whole ledger and recovers if needed.
 */
const damageMark = (file: string): string => `${file}.damaged`
export const noteDamage = (file: string): void =>
  writeFileSync(damageMark(file), 'Damage was found; the next start checks the ledger.\n', { mode: 0o600 })

/** Damaged ledgers that were moved aside, newest first. */
function movedAside(file: string): string[] {
  const start = `${basename(file)}.damaged-`
  return readdirSync(dirname(file))
    .filter((name) => name.startsWith(start) && !/-(wal|shm|log)$/.test(name))
    .sort()
    .reverse()
    .map((name) => join(dirname(file), name))
}

/** Files that prove that a server has run here: a new installation creates the ledger before them. */
const TRACES = ['index-in-use.json', 'secret.key']

/** Whether there was a ledger before: if it is missing then, it was lost; this is not a new installation. */
const hadLedger = (file: string): boolean =>
  copiesOf(file).length > 0 ||
  movedAside(file).length > 0 ||
  TRACES.some((name) => existsSync(join(dirname(file), name)))

/** @throws SqliteError  the disk cannot be read, so the file's state is unknown */
export async function faultOf(file: string): Promise<LedgerFault | undefined> {
  removeUnfinished(copiesFolder(file))
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (!size) {
    if (!hadLedger(file)) return undefined
    return size === undefined ? 'missing' : 'empty'
  }
  const mark = damageMark(file)
  if (existsSync(mark) && (await isDamaged(file))) return 'damaged'
  rmSync(mark, { force: true })
  return undefined
}

/**
 * Moves an unusable ledger aside and replaces it. After an interruption at any point the ledger is missing, and the
 * next start repeats this with the file that was moved aside.
 * @returns what was done, as a sentence for the log and the page
 */
export async function replaceLedger(fault: LedgerFault, options: Recovery): Promise<Words> {
  const { file, now } = options
  const isThere = existsSync(file)
  const aside = moveAside(file, now)
  const way = (await takeCopy(options)) ?? (await takeSalvaged(options)) ?? startBlank(options)
  syncFolder(dirname(file))
  rmSync(damageMark(file), { force: true })
  const what = isThere
    ? say`The ledger ${{ file }} was ${{ fault: FAULTS[fault] }} and was moved to ${{ aside }}.`
    : say`The ledger ${{ file }} was ${{ fault: FAULTS[fault] }}.`
  return joined([what, way], ' ')
}

/** Moves the ledger before its log: after an interruption the ledger is missing, and the next start moves the log. */
function moveAside(file: string, now: number): string {
  const [newest] = movedAside(file)
  const isHalfDone = !existsSync(file) && newest !== undefined && !existsSync(`${newest}-wal`)
  const aside = isHalfDone ? newest : `${file}.damaged-${stampOf(now)}`
  for (const end of ENDS) if (existsSync(file + end)) renameSync(file + end, aside + end)
  syncFolder(dirname(file))
  return aside
}

async function takeCopy({ file, now }: Recovery): Promise<Words | undefined> {
  const part = `${file}.part`
  for (const copy of copiesOf(file, now)) {
    copyFileSync(copy, part)
    chmodSync(part, 0o600)
    if (!(await putInPlace(part, file))) continue
    return say`It was replaced by the copy ${{ copy }}: changes made after that copy are missing.`
  }
  return undefined
}

/** Salvages data from the damaged ledger, otherwise from its damaged copies. */
async function takeSalvaged({ file, salvage, ...parts }: Recovery): Promise<Words | undefined> {
  const part = `${file}.part`
  const [newest, ...older] = movedAside(file)
  for (const source of [...(newest ? [newest] : []), ...copiesOf(file, parts.now), ...older]) {
    const lost = salvage?.(source, part, parts)
    if (!lost || !(await putInPlace(part, file))) continue
    keepForGood(file)
    return joined([say`There is no intact copy, so the readable content of ${{ source }} was saved.`, lost], ' ')
  }
  return undefined
}

async function putInPlace(part: string, file: string): Promise<boolean> {
  try {
    await mustBeWhole(part)
    syncFile(part)
    renameSync(part, file)
    return true
  } catch (error) {
    if (!isDamage(error)) throw error
    return false
  } finally {
    for (const end of [...ENDS, '-journal']) rmSync(part + end, { force: true })
  }
}

function startBlank({ file }: Recovery): Words {
  keepForGood(file)
  closeSync(openSync(file, 'a', 0o600))
  return say`There is no copy and nothing could be read, so a new, empty ledger was created: accounts with all their data, jobs, schedules and preferences are gone. To get them back, stop the server and replace the ledger with a copy.`
}

/** Whether a file that SQLite can open is damaged. */
async function isDamaged(file: string): Promise<boolean> {
  try {
    await mustBeWhole(file)
    return false
  } catch (error) {
    if (isDamage(error)) return true
    throw error
  }
}
