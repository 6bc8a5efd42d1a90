/** `archivolt index-move`: copies all documents to another index, on a data folder that no server is using. */

import { systemClock } from '../../core/base/clock.ts'
import { inEnglish } from '../../core/base/say.ts'
import { type Adapter, isUsable, openIndex } from '../../core/index/adapter.ts'
import { changeInUse, readInUse } from '../../core/index/in-use.ts'
import type { Index } from '../../core/index/port.ts'
import { waitAtBarrier } from '../../core/index/write-barrier.ts'
import { lockFolder } from '../../core/ledger/lock.ts'
import { openLog } from '../../core/log.ts'
import { openRememberedSettings } from '../../core/plugin/remembered-settings.ts'
import manifest from '../../package.json' with { type: 'json' }
import { readCore, readSettings, readSources } from '../load-settings.ts'
import type { Settings } from '../schema.ts'
import { refuseUnusable } from './at-rest.ts'
import { findPlugins, registerWhole } from './find-plugins.ts'
import { type MoveOptions, moveIndex } from './move-documents.ts'
import type { OwnCommand } from './own-command.ts'
import { TypingMistake } from './typed.ts'

const TELL_EVERY_MS = 2_000

export const indexMove: OwnCommand = {
  name: 'index-move',
  summary: 'Copy all documents to the other index (stop the server first; if interrupted, run the command again)',
  takes: ['index'],
  options: { anyway: { type: 'boolean', meaning: 'overwrite newer documents at the destination' } },
  run: ({ taken: [target], options, say }) => copyIndex(target!, options.anyway === true, say),
}

/** Copies all documents from one index to another. After an interruption, a second run continues. */
async function copyIndex(target: string, isAnyway: boolean, say: (text: string) => void): Promise<void> {
  const sources = readSources()
  const core = readCore(sources)
  await refuseUnusable(core.dataDir)
  const lock = lockFolder(core.dataDir)
  const stop = new AbortController()
  const opened: Index[] = []
  try {
    const loaded = await registerWhole(await findPlugins(core), core)
    const settings = readSettings(sources, loaded.settings, (await openRememberedSettings(core.dataDir, loaded)).owners)
    const { kind, filling, opened: lastOpened } = await readInUse(core.dataDir)
    const [from, to] = wayOf(target, loaded.adapters, settings, kind)
    const interrupted = () =>
      stop.abort(
        new Error(
          `The move was interrupted. The server can still be started with ${from.title}; to finish the move, run the same command again`,
        ),
      )
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted)
    const open = async (adapter: Adapter): Promise<Index> => {
      const index = await openIndex(adapter, {
        ...{ settings, definitions: loaded.indexes, clock: systemClock, version: manifest.version },
        log: openLog('warn'),
        signal: stop.signal,
      })
      opened.push(index)
      return index
    }

    await waitAtBarrier(stop.signal, async () => {
      if (filling === from.name)
        throw new Error(
          `A move to ${from.title} was interrupted, so only some documents were copied: finish it first, with archivolt index-move ${from.target}`,
        )
      const earlier = lastOpened?.[from.name]?.filter((name) => !loaded.indexes.some((one) => one.name === name)) ?? []
      if (earlier.length > 0)
        throw new Error(
          `${from.title} has documents that an earlier version or other plugins have left there (${earlier.join(', ')}): start the server once, which brings them up to date, then run this again`,
        )
      const source = await open(from)
      if (source.lost)
        throw new Error(`${inEnglish(source.lost.reason)}: nothing was moved. Restore a snapshot or a backup first`)
      if ((await held(source)) === 0) throw new Error(`${from.title} has no documents: nothing was moved`)
      const destination = await open(to)
      if (kind === to.name && !isAnyway && (await held(destination)) > 0) {
        throw new Error(
          `The documents were last stored in ${to.title}: those of ${from.title} are older and would replace them. To replace them anyway, add --anyway`,
        )
      }
      await changeInUse(core.dataDir, { kind: from.name, filling: to.name })
      say(`Copying all documents from ${from.title} to ${to.title}`)
      const moved = await moveIndex(source, destination, { signal: stop.signal, progress: tellProgress(say) })
      await destination.settle()
      await changeInUse(core.dataDir, { kind: to.name, filling: undefined })
      const sum = (of: (one: (typeof moved)[number]) => number) => moved.reduce((total, one) => total + of(one), 0)
      const next = `${from.variable ? `Remove the setting ${from.variable} and start` : 'Start'} the server${to.variable ? ` with ${to.variable} as it is set now` : ''}`
      say(
        `All ${sum(({ documents }) => documents)} documents are in ${to.title}; the counts match (${sum(({ written }) => written)} written now). ${next}; ${from.title} was not changed`,
      )
    })
  } finally {
    for (const index of opened) await index.close()
    lock.release()
  }
}

/** The source is the index in use; if that is the target or unknown, another that is set, otherwise the default one. */
function wayOf(
  target: string,
  adapters: readonly Adapter[],
  settings: Readonly<Settings>,
  kind: string | undefined,
): [from: Adapter, to: Adapter] {
  const to = adapters.find((adapter) => adapter.target === target)
  if (!to) {
    const targets = adapters.map((adapter) => adapter.target)
    throw new TypingMistake(
      `Unknown index: ${target}. Use ${targets.map((one) => `archivolt index-move ${one}`).join(' or ')}`,
    )
  }
  const others = adapters.filter((adapter) => adapter !== to)
  const from =
    others.find(({ name }) => name === kind) ??
    others.find((adapter) => adapter.variable !== undefined && isUsable(adapter, settings)) ??
    others.find(({ variable }) => variable === undefined)
  const unset = [to, ...(from ? [from] : others)].find((adapter) => !isUsable(adapter, settings))
  if (unset)
    throw new Error(
      `Set ${unset.variable} (and the settings that belong to it) to the values that the server uses or will use, then run this again`,
    )
  if (!from) throw new Error(`There is no index other than ${to.title}: nothing was moved`)
  return [from, to]
}

async function held(index: Index): Promise<number> {
  let sum = 0
  for (const definition of index.definitions) sum += await index.collection(definition).count(undefined, Infinity)
  return sum
}

/** Prints a line from time to time, and one at the end of each collection. */
function tellProgress(say: (text: string) => void): NonNullable<MoveOptions['progress']> {
  let toldMs = 0
  return (collection, done, total) => {
    if (done < total && systemClock.steady() - toldMs < TELL_EVERY_MS) return
    toldMs = systemClock.steady()
    say(`${collection}: ${done} of ${total} documents`)
  }
}
