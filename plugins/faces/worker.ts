/**
 * The thread that accesses the disks of faces, so that a slow disk blocks nothing else. A call takes a few
 * microseconds.
 */
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import {
  codeOf,
  hasText,
  type Linked,
  linkFile,
  makeFolder,
  removeEmpty,
  removeOwn,
  rename,
  stateOf,
  writeText,
} from './disk.ts'
import { markOf } from './mark.ts'
import { type InspectAsked, inspectAll, isWrittenAt, type Plan, type PlanAsked, planAll } from './plan.ts'
import type { LinkKind } from './types.ts'

/** One file to create. Paths are absolute. */
export type Making = { path: string } & (
  | { text: string }
  | { from: string; as: Linked }
  /** Path of the content, already written under a temporary name. */
  | { part: string }
)

export interface Made {
  /** The state on disk; undefined: the file could not be created. */
  seen?: string | undefined
  /** The file already had this text. */
  isSame?: true
  link?: LinkKind | 'copy'
  /** The code of the failure. `NOLINK`: the file system does not support links; `message` has the reason. */
  code?: string
  message?: string
}

export interface RemoveAsked {
  root: string
  /** Paths below the root, with the last seen state of each. */
  files: ReadonlyArray<readonly [path: string, seen: string | null]>
}

export interface Requests {
  plan: { args: PlanAsked; result: Plan[] }
  inspect: { args: InspectAsked; result: number[] }
  make: { args: readonly Making[]; result: Made[] }
  /** @returns the files that stay, because their path has another file now */
  remove: { args: RemoveAsked; result: string[] }
  /** Creates a folder for files that another program writes. */
  folder: { args: string; result: null }
}

let folder = ''

function make(one: Making): Made {
  const { path } = one
  try {
    if (dirname(path) !== folder) makeFolder(dirname(path))
    folder = dirname(path)
    if ('text' in one) {
      if (hasText(path, markOf(one.text))) return { seen: stateOf(path), isSame: true }
      writeText(path, one.text)
    } else if ('part' in one) rename(one.part, path)
    else return { link: linkFile(one.from, path, one.as), seen: stateOf(path) }
    return { seen: stateOf(path) }
  } catch (thrown) {
    folder = ''
    const code = codeOf(thrown)
    if (code === 'ENOENT' && 'from' in one && stateOf(one.from) === undefined) return { seen: `-${one.from}` }
    return { code, message: String((thrown as Error).message) }
  }
}

function remove({ root, files }: RemoveAsked): string[] {
  folder = ''
  const stay = files.filter(([path, seen]) => !removeOwn(join(root, path), seen, isWrittenAt(path)))
  for (const of of new Set(files.map(([path]) => dirname(join(root, path))))) removeEmpty(root, of)
  return stay.map(([path]) => path)
}

const answers: { [Name in keyof Requests]: (args: Requests[Name]['args']) => Requests[Name]['result'] } = {
  plan: planAll,
  inspect: inspectAll,
  make: (all) => all.map(make),
  remove,
  folder: (path) => {
    makeFolder(path)
    return null
  },
}

parentPort!.on(
  'message',
  <Name extends keyof Requests>(asked: { number: number; op: Name; args: Requests[Name]['args'] }) => {
    const { number, op, args } = asked
    try {
      parentPort!.postMessage({ number, result: answers[op](args) })
    } catch (thrown) {
      parentPort!.postMessage({ number, code: codeOf(thrown), error: String(thrown) })
    }
  },
)
