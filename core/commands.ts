/** What the program does beside serving, on a data folder that no server is using: `node dist/main.js <command>`. */
import { readCore, readSettings, readSources } from '../config/load.ts'
import { rotateSecretKey } from './accounts/secret-key.ts'
import { openIndex } from './app.ts'
import { systemClock } from './clock.ts'
import { changeInUse, type IndexKind, NAMES, otherKind, readInUse, TARGETS } from './index/in-use.ts'
import { moveIndex } from './index/move.ts'
import type { Index } from './index/port.ts'
import { waitAtBarrier } from './index/write-barrier.ts'
import { lockFolder } from './ledger/lock.ts'
import { openLog } from './log.ts'
import { openFormerSettings } from './plugin/former.ts'
import { findPlugins, registerPlugins } from './plugin/load.ts'

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

/** Brings all documents from one index to the other. Run again after an interruption it goes on. */
async function bringIndex([target, ...options]: readonly string[]): Promise<void> {
  const to = (Object.keys(TARGETS) as IndexKind[]).find((kind) => `to-${TARGETS[kind]}` === target)
  if (!to) throw new Error('Say where the documents are to go: make index-move TO=elasticsearch, or TO=embedded')
  const from = otherKind(to)
  const sources = readSources()
  const core = readCore(sources)
  const lock = lockFolder(core.dataDir)
  const stop = new AbortController()
  const interrupted = () =>
    stop.abort(
      new Error(
        `The move was interrupted; the server may go on with ${NAMES[from]}, and the same command again goes on with the move`,
      ),
    )
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, interrupted)
  const opened: Index[] = []
  try {
    const loaded = registerPlugins(await findPlugins(core), core.pluginsOff)
    const settings = readSettings(sources, loaded.settings, (await openFormerSettings(core.dataDir, loaded)).owners)
    if (settings.elasticsearchUrl === null)
      throw new Error(
        'Set AV_ELASTICSEARCH_URL (and its account) as the server is to have it, or has it, and run this again',
      )
    const open = async (kind: IndexKind): Promise<Index> => {
      const index = await openIndex(
        kind === 'elasticsearch' ? settings : { ...settings, elasticsearchUrl: null },
        loaded.indexes,
        openLog('warn'),
        systemClock,
        { signal: stop.signal },
      )
      opened.push(index)
      return index
    }
    const held = async (index: Index): Promise<number> => {
      let sum = 0
      for (const definition of index.definitions) sum += await index.collection(definition).count(undefined, Infinity)
      return sum
    }

    await waitAtBarrier(stop.signal, async () => {
      const { kind, filling } = await readInUse(core.dataDir)
      if (filling === from)
        throw new Error(
          `A move to ${NAMES[from]} was interrupted, so only some documents are there: finish it first, with make index-move TO=${TARGETS[from]}`,
        )
      const source = await open(from)
      if (source.lost) throw new Error(`${source.lost.reason}: nothing was moved. Restore a snapshot or a backup first`)
      if ((await held(source)) === 0) throw new Error(`There is nothing in ${NAMES[from]}: no document was moved`)
      const destination = await open(to)
      if (kind === to && !options.includes('--anyway') && (await held(destination)) > 0) {
        throw new Error(
          `The documents were last kept in ${NAMES[to]}: those of ${NAMES[from]} are older and would take their place. If that is meant, add ANYWAY=yes`,
        )
      }
      await changeInUse(core.dataDir, { kind: from, filling: to })
      process.stdout.write(`Copying all documents from ${NAMES[from]} to ${NAMES[to]}\n`)
      let toldMs = 0
      const moved = await moveIndex(source, destination, {
        signal: stop.signal,
        progress(collection, done, total) {
          if (done < total && systemClock.steady() - toldMs < TELL_EVERY_MS) return
          toldMs = systemClock.steady()
          process.stdout.write(`${collection}: ${done} of ${total} documents\n`)
        },
      })
      await destination.settle()
      await changeInUse(core.dataDir, { kind: to, filling: undefined })
      const sum = (of: (one: (typeof moved)[number]) => number) => moved.reduce((total, one) => total + of(one), 0)
      const next =
        to === 'elasticsearch'
          ? 'Start the server with AV_ELASTICSEARCH_URL as it is set now'
          : 'Take AV_ELASTICSEARCH_URL away and start the server'
      process.stdout.write(
        `All ${sum(({ documents }) => documents)} documents are in ${NAMES[to]}, counted in both (${sum(({ written }) => written)} written now). ${next}; ${NAMES[from]} stays as it was\n`,
      )
    })
  } finally {
    for (const index of opened) await index.close()
    lock.release()
  }
}
