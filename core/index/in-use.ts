/**
 * Which index the documents of a data folder are kept in, which one is being filled, and which has lost them: a small
 * file that starts and moves look at.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { Clock } from '../clock.ts'
import { StartError } from '../error.ts'
import type { Log } from '../log.ts'
import { inEnglish, Words } from '../say.ts'
import { writeWhole } from '../whole-file.ts'

/** The index of a plugin, by the plugin's name. */
const Kind = Type.String({ pattern: '^[a-z][a-z0-9]*$' })
const ofEach = <Schema extends Type.TSchema>(schema: Schema) => Type.Optional(Type.Record(Type.String(), schema))

const Lost = Type.Object({ reason: Words, since: Type.Integer() })
/**
 * Why documents are missing that were there, a sentence for people without its full stop; and since when, in epoch
 * milliseconds.
 */
export type Lost = Static<typeof Lost>

const InUse = Type.Object({
  /** Where a server kept them last, or a move has brought them. Left out: no server has run yet. */
  kind: Type.Optional(Kind),
  /** A move to it has begun and not ended: what it holds is a mixture. */
  filling: Type.Optional(Kind),
  /** The collections that the last start has opened in each index. One that is missing later is lost, not new. */
  opened: ofEach(Type.Array(Type.String())),
  /** Until the documents are back. */
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
    // It is no JSON: refused below, like JSON of another form.
  }
  throw new StartError(
    `${fileIn(dataDir)} does not say which index is in use: remove it, and let the settings choose the index that the server last ran with`,
  )
}

/** What the change leaves out stays; undefined takes it away. */
export async function changeInUse(
  dataDir: string,
  change: { [Key in keyof InUse]: InUse[Key] | undefined },
): Promise<void> {
  await writeWhole(fileIn(dataDir), `${JSON.stringify({ ...(await readInUse(dataDir)), ...change })}\n`)
}

/** How people are told of an index. Its adapter may have been removed since. */
export interface NamedIndex {
  name: string
  title: string
  /** Of `archivolt index-move`. */
  target: string
  /** What chooses it. undefined: it is chosen where no other is. */
  variable: string | undefined
}

/**
 * A server is about to open this one.
 * @param all  with those that are not chosen
 * @throws StartError  a move has left it half filled
 */
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
    const back = [chosen.variable && `take ${chosen.variable} away`, before?.variable && `set ${before.variable} again`]
    throw new StartError(
      `A move of the documents to ${chosen.title} was interrupted, so only some are there: finish it with archivolt index-move ${chosen.target}, or ${back.filter(Boolean).join(' and ')} to go on with ${titleBefore}`,
    )
  }
  if (last !== undefined && last !== chosen.name)
    log.warn(
      `the documents were kept in ${titleBefore}; this start keeps them in ${chosen.title}, and what only the other one has is not seen (archivolt index-move ${chosen.target} brings it)`,
    )
  if (last !== chosen.name) await changeInUse(dataDir, { kind: chosen.name })
}

/** What one index should hold, and whether it has lost it: on disk, so that no end of the process forgets it. */
export interface Holdings {
  /** Its collections when a server last had it. undefined: none has, as far as is known. */
  readonly opened: readonly string[] | undefined
  readonly lost: Lost | undefined
  /** To be awaited before anything blank takes the place of what is missing. */
  noteLost(reason: Words): Promise<void>
  noteOpened(collections: readonly string[]): Promise<void>
  /**
   * Called when the documents are back, or an admin has said that what is there now is all: nothing is lost any more.
   */
  settle(): Promise<void>
}

export async function openHoldings({
  dataDir,
  kind,
  clock,
  log,
}: {
  dataDir: string
  kind: string
  clock: Clock
  log: Log
}): Promise<Holdings> {
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
      log.error(`${inEnglish(reason)}; a blank one takes its place`)
      // What was there before the first loss is what matters.
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
        log.info('the documents that were missing are back, or no longer waited for')
      } catch (error) {
        // What brought them back has happened all the same.
        log.error(
          { err: error },
          'that the missing documents are back could not be noted; the next start tells of them again',
        )
      }
    },
  }
}
