/** Compares the wanted files of units with the ledger and the disk, and returns the work. Runs in the worker. */
import { basename, dirname, join } from 'node:path'
import { hasText, isSame, leadsTo, namesIn, stateOf, sweep } from './disk.ts'
import { fromStored, isMissing, type KnownFile, type WantedFile } from './types.ts'

/** A wanted file without its text. */
export interface Wanted {
  path: string
  mark: string
  kind: WantedFile['kind']
  /** Path of the source; undefined: the file is a text. */
  from?: string | undefined
}

export interface PlanAsked {
  root: string
  /** Whether to revert changes of other programs. */
  takesBack: boolean
  /** Whether to compare links with files in the library, because the archive has reported changes of these files. */
  isForced: boolean
  units: ReadonlyArray<{ wanted: readonly Wanted[]; known: readonly KnownFile[] }>
}

export type Fault = 'in the way' | 'changed by others' | 'film is missing'

export interface Plan {
  /** Indexes into `wanted`. */
  todo: number[]
  /** Indexes into `wanted`: files whose source does not exist. */
  lacking: number[]
  gone: string[]
  faults: Array<[path: string, fault: Fault]>
}

const isWritten = (kind: Wanted['kind']): boolean => kind === 'text' || kind === 'subtitles'
/** The same by the name alone. */
export const isWrittenAt = (path: string): boolean => /\.(?:nfo|srt|m3u8)$/.test(path)

export function planAll({ units, ...asked }: PlanAsked): Plan[] {
  sweepClaimed(asked.root, units)
  return units.map(({ wanted, known }) => planOf(asked, wanted, known))
}

/**
 * Removes temporary files: if a file is claimed before its unit is planned, a render was killed while it created the
 * file.
 */
function sweepClaimed(root: string, units: PlanAsked['units']): void {
  const claimed = units.flatMap(({ known }) => known.filter(([, , seen]) => seen === null))
  for (const folder of new Set(claimed.map(([path]) => dirname(join(root, path))))) sweep(folder)
}

function planOf(asked: Omit<PlanAsked, 'units'>, all: readonly Wanted[], stored: readonly KnownFile[]): Plan {
  const known = new Map(stored.map((file) => [file[0], file]))
  const film = all.find(({ kind }) => kind === 'film' || kind === 'sound')
  const isNew = film !== undefined && !known.has(film.path)
  const isGone = film?.from !== undefined && (asked.isForced || isNew) && stateOf(film.from) === undefined
  const plan: Plan = { todo: [], lacking: [], gone: [], faults: isGone ? [[film.path, 'film is missing']] : [] }
  const wanted = isGone ? [] : all
  for (const [at, file] of wanted.entries()) {
    const due = isDue(asked, file, known.get(file.path))
    if (due === true) plan[isLacking(file) ? 'lacking' : 'todo'].push(at)
    else if (due !== false) plan.faults.push([file.path, due])
  }
  const paths = new Set(wanted.map(({ path }) => path))
  plan.gone = [...known.keys()].filter((path) => !paths.has(path))
  return plan
}

const isLacking = ({ kind, from }: Wanted): boolean =>
  kind !== 'film' && from !== undefined && stateOf(from) === undefined

function isDue(
  { root, takesBack, isForced }: Omit<PlanAsked, 'units'>,
  file: Wanted,
  known: KnownFile | undefined,
): boolean | Fault {
  const path = join(root, file.path)
  const now = stateOf(path)
  // If a face was removed and created again, its earlier files still exist.
  if (!known) return now === undefined || isIt(path, file) || 'in the way'
  const [, mark, seen] = known
  if (seen === null) return true
  if (isMissing(seen)) return file.from !== undefined && stateOf(file.from) !== undefined
  if (now === undefined) return true
  if (!isSame(now, seen, isWritten(file.kind)) && !isIt(path, file)) {
    if (file.kind === 'film' || file.kind === 'sound') return 'in the way'
    return takesBack || 'changed by others'
  }
  const isLink = file.kind === 'film' || file.kind === 'picture'
  return mark !== file.mark || (isForced && (isLink ? !isIt(path, file) : file.kind === 'subtitles'))
}

const isIt = (path: string, { kind, mark, from }: Wanted): boolean =>
  kind === 'text' ? hasText(path, mark) : from !== undefined && leadsTo(path, from)

export interface InspectAsked {
  root: string
  /** The files of each unit, as JSON of `StoredFiles`. Sorted by path, so that each folder is read only once. */
  units: readonly string[]
}

const FOLDERS_CACHED = 8
const listed = new Map<string, Set<string>>()

function namesOf(folder: string): Set<string> {
  const names = listed.get(folder) ?? namesIn(folder)
  listed.delete(folder)
  listed.set(folder, names)
  if (listed.size > FOLDERS_CACHED) listed.delete(listed.keys().next().value!)
  return names
}

/** The files of a row; undefined: the row is damaged, which the render reports. */
function filesIn(json: string): KnownFile[] | undefined {
  try {
    return fromStored(JSON.parse(json))
  } catch {
    return undefined
  }
}

/** Indexes of units whose files have changed: compares names, and for written files also size and time. */
export function inspectAll({ root, units }: InspectAsked): number[] {
  const isAsLeft = ([path, , seen]: KnownFile): boolean => {
    if (seen === null) return false
    if (isMissing(seen)) return stateOf(seen.slice(1)) === undefined
    if (!isWrittenAt(path)) return namesOf(join(root, dirname(path))).has(basename(path))
    const now = stateOf(join(root, path))
    return now !== undefined && isSame(now, seen, true)
  }
  return [...units.entries()].flatMap(([at, files]) => (filesIn(files)?.every(isAsLeft) ? [] : [at]))
}
