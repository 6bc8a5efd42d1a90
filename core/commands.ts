/** What the program does beside serving, on a data folder that no server is using: `node dist/main.js <command>`. */
import { readCore, readSettings, readSources } from '../config/load.ts'
import type { Settings } from '../config/schema.ts'
import manifest from '../package.json' with { type: 'json' }
import { rotateSecretKey } from './accounts/secret-key.ts'
import { systemClock } from './clock.ts'
import { type Adapter, isUsable, openIndex } from './index/adapter.ts'
import { changeInUse, readInUse } from './index/in-use.ts'
import { type MoveOptions, moveIndex } from './index/move.ts'
import type { Index } from './index/port.ts'
import { waitAtBarrier } from './index/write-barrier.ts'
import { lockFolder } from './ledger/lock.ts'
import { openLog } from './log.ts'
import { findPlugins, registerPlugins } from './plugin/load.ts'
import { openRememberedSettings } from './plugin/remembered-settings.ts'

const TELL_EVERY_MS = 2_000

export const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  'rotate-key': rotateKey,
  'index-move': bringIndex,
}

async function rotateKey(): Promise<void> {
  const { dataDir } = readSources()
  const lock = lockFolder(dataDir)
  try {
    await rotateSecretKey(dataDir)
  } finally {
    lock.release()
  }
  process.stdout.write('There is a new secret key: all sessions and tokens have ended\n')
}

/** Brings all documents from one index to another. Run again after an interruption it goes on. */
async function bringIndex([target, ...options]: readonly string[]): Promise<void> {
  const sources = readSources()
  const core = readCore(sources)
  const lock = lockFolder(core.dataDir)
  const stop = new AbortController()
  const opened: Index[] = []
  try {
    const loaded = registerPlugins(await findPlugins(core), core.pluginsOff)
    const settings = readSettings(sources, loaded.settings, (await openRememberedSettings(core.dataDir, loaded)).owners)
    const { kind, filling } = await readInUse(core.dataDir)
    const [from, to] = wayOf(target, loaded.adapters, settings, kind)
    const interrupted = () =>
      stop.abort(
        new Error(
          `The move was interrupted; the server may go on with ${from.title}, and the same command again goes on with the move`,
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
          `A move to ${from.title} was interrupted, so only some documents are there: finish it first, with make index-move TO=${from.target}`,
        )
      const source = await open(from)
      if (source.lost) throw new Error(`${source.lost.reason}: nothing was moved. Restore a snapshot or a backup first`)
      if ((await held(source)) === 0) throw new Error(`There is nothing in ${from.title}: no document was moved`)
      const destination = await open(to)
      if (kind === to.name && !options.includes('--anyway') && (await held(destination)) > 0) {
        throw new Error(
          `The documents were last kept in ${to.title}: those of ${from.title} are older and would take their place. If that is meant, add ANYWAY=yes`,
        )
      }
      await changeInUse(core.dataDir, { kind: from.name, filling: to.name })
      process.stdout.write(`Copying all documents from ${from.title} to ${to.title}\n`)
      const moved = await moveIndex(source, destination, { signal: stop.signal, progress: tellProgress() })
      await destination.settle()
      await changeInUse(core.dataDir, { kind: to.name, filling: undefined })
      const sum = (of: (one: (typeof moved)[number]) => number) => moved.reduce((total, one) => total + of(one), 0)
      const next = `${from.variable ? `Take ${from.variable} away and start` : 'Start'} the server${to.variable ? ` with ${to.variable} as it is set now` : ''}`
      process.stdout.write(
        `All ${sum(({ documents }) => documents)} documents are in ${to.title}, counted in both (${sum(({ written }) => written)} written now). ${next}; ${from.title} stays as it was\n`,
      )
    })
  } finally {
    for (const index of opened) await index.close()
    lock.release()
  }
}

/** From where to where: from where the documents are, if they are not there already, else from where they may be. */
function wayOf(
  target: string | undefined,
  adapters: readonly Adapter[],
  settings: Readonly<Settings>,
  kind: string | undefined,
): [from: Adapter, to: Adapter] {
  const to = adapters.find((adapter) => `to-${adapter.target}` === target)
  if (!to) {
    const targets = adapters.map((adapter) => `TO=${adapter.target}`)
    throw new Error(`Say where the documents are to go: make index-move ${targets.join(', or ')}`)
  }
  const others = adapters.filter((adapter) => adapter !== to)
  const from =
    others.find(({ name }) => name === kind) ??
    others.find((adapter) => adapter.variable !== undefined && isUsable(adapter, settings)) ??
    others.find(({ variable }) => variable === undefined)
  const unset = [to, ...(from ? [from] : others)].find((adapter) => !isUsable(adapter, settings))
  if (unset)
    throw new Error(
      `Set ${unset.variable} (and what belongs to it) as the server is to have it, or has it, and run this again`,
    )
  if (!from) throw new Error(`There is no other index than ${to.title}: no document was moved`)
  return [from, to]
}

async function held(index: Index): Promise<number> {
  let sum = 0
  for (const definition of index.definitions) sum += await index.collection(definition).count(undefined, Infinity)
  return sum
}

/** A line now and then, and one for each collection at its end. */
function tellProgress(): NonNullable<MoveOptions['progress']> {
  let toldMs = 0
  return (collection, done, total) => {
    if (done < total && systemClock.steady() - toldMs < TELL_EVERY_MS) return
    toldMs = systemClock.steady()
    process.stdout.write(`${collection}: ${done} of ${total} documents\n`)
  }
}
