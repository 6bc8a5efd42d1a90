/** A small file: which index holds the documents, which one a move is filling, which has lost documents. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../base/clock.ts'
import { inEnglish } from '../base/say.ts'
import { Words } from '../base/sentence-schemas.ts'
import { writeWhole } from '../base/whole-file.ts'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'

/** The index of a plugin, by the plugin's name. */
const Kind = Type.String({ pattern: '^[a-z][a-z0-9]*$' })
const ofEach = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Record(Type.String(), schema))

const Lost = Type.Object({ reason: Words, since: Type.Integer() })
/** Why documents are missing, as a sentence for people without its full stop, and since when, in epoch milliseconds. */
export type Lost = Static<typeof Lost>

const InUse = Type.Object({
  /** The index last used by a server or filled by a move. Omitted: no server has run yet. */
  kind: Type.Optional(Kind),
  /** The target of an unfinished move: it holds a mixture. */
  filling: Type.Optional(Kind),
  /** The collections that the last start opened in each index. If one is missing later, it is lost, not new. */
  opened: ofEach(Type.Array(Type.String())),
  /** Present until the documents are back. */
  lost: ofEach(Lost),
})
type InUse = Static<typeof InUse>

const fileIn = (dataDir: string): string => join(dataDir, 'index-in-use.json')

export async function readInUse(dataDir: string): Promise<InUse> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw new StartError(`${fileIn(dataDir)} cannot be read (${error.code}): correct its permissions`, { cause: error })
  })
  try {
    const inUse: unknown = JSON.parse(text)
    if (Value.Check(InUse, inUse)) return inUse
  } catch {
    // Not JSON: refused below, like JSON of another form.
  }
  throw new StartError(
    `${fileIn(dataDir)} does not say which index is in use: remove it, and let the settings choose the index that the server last ran with`,
  )
}

/** Keys that the change omits stay; undefined removes a key. */
export async function changeInUse(
  dataDir: string,
  change: { [Key in keyof InUse]: InUse[Key] | undefined },
): Promise<void> {
  await writeWhole(fileIn(dataDir), `${JSON.stringify({ ...(await readInUse(dataDir)), ...change })}\n`)
}

/** How an index is named to people. Its adapter may have been removed since. */
export interface NamedIndex {
  name: string
  title: string
  /** Its name in `archivolt index-move`. */
  target: string
  /** The environment variable that chooses the index. undefined: the default index. */
  variable: string | undefined
}

/** Call it before the chosen index is opened. @throws StartError  an unfinished move has filled it only partly */
export async function enterIndex(
  dataDir: string,
  chosen: NamedIndex,
  all: readonly NamedIndex[],
  log: Log,
): Promise<void> {
  const { kind: last, filling } = await readInUse(dataDir)
  const before = all.find(({ name }) => name === last)
  const titleBefore = before?.title ?? `the index of the plugin ${last}`
  if (filling === chosen.name) {
    const back = [chosen.variable && `remove ${chosen.variable}`, before?.variable && `set ${before.variable} again`]
    throw new StartError(
      `A move of the documents to ${chosen.title} was interrupted, so only some were copied: finish it with archivolt index-move ${chosen.target}, or ${back.filter(Boolean).join(' and ')} to continue with ${titleBefore}`,
    )
  }
  if (last !== undefined && last !== chosen.name)
    log.warn(
      `the documents were stored in ${titleBefore}; this start stores them in ${chosen.title}, so documents that only the other one has are not visible (archivolt index-move ${chosen.target} moves them)`,
    )
  if (last !== chosen.name) await changeInUse(dataDir, { kind: chosen.name })
}

/** What one index should hold, and whether it has lost it. Stored on disk to survive restarts. */
export interface Holdings {
  /** Its collections when a server last opened it. undefined: not known to have been opened. */
  readonly opened: readonly string[] | undefined
  readonly lost: Lost | undefined
  /** Await this before replacing anything missing with something blank. */
  noteLost(reason: Words): Promise<void>
  noteOpened(collections: readonly string[]): Promise<void>
  /** Clears the loss: the documents are back, or an admin has confirmed that nothing is missing. */
  settle(): Promise<void>
}

interface HoldingsParts {
  dataDir: string
  kind: string
  clock: Clock
  log: Log
}

export async function openHoldings({ dataDir, kind, clock, log }: HoldingsParts): Promise<Holdings> {
  const found = await readInUse(dataDir)
  let [opened, lost] = [found.opened?.[kind], found.lost?.[kind]]
  return {
    get opened() {
      return opened
    },
    get lost() {
      return lost
    },
    async noteLost(reason) {
      log.error(`${inEnglish(reason)}; it is replaced by an empty one`)
      // The time of the first loss is the one that matters.
      lost = { reason, since: lost?.since ?? clock.now() }
      await changeInUse(dataDir, { lost: { ...(await readInUse(dataDir)).lost, [kind]: lost } })
    },
    async noteOpened(collections) {
      if (opened && collections.every((name) => opened?.includes(name)) && opened.length === collections.length) return
      opened = [...collections]
      await changeInUse(dataDir, { opened: { ...(await readInUse(dataDir)).opened, [kind]: opened } })
    },
    async settle() {
      if (!lost) return
      lost = undefined
      try {
        const { [kind]: _settled, ...others } = (await readInUse(dataDir)).lost ?? {}
        await changeInUse(dataDir, { lost: others })
        log.info('the missing documents are back, or were confirmed as gone')
      } catch (error) {
        // The documents are back even if that cannot be recorded.
        log.error(
          { err: error },
          'could not record that the missing documents are back; the next start will report them again',
        )
      }
    },
  }
}
