/**
 * Index adapters: what a plugin that keeps documents declares, which of them is chosen, and how the index is opened.
 */
import type { Settings } from '../../config/schema.ts'
import type { Clock } from '../clock.ts'
import { StartError } from '../error.ts'
import type { Log } from '../log.ts'
import { type OnGarbled, openGarbled } from './garbled.ts'
import { type Holdings, type NamedIndex, openHoldings } from './in-use.ts'
import type { IndexDefinition } from './mapping.ts'
import type { Index, IndexAdapter, Snapshots } from './port.ts'
import { timed } from './timed.ts'
import { limitReads } from './view.ts'
import { guardWrites } from './write-barrier.ts'

export interface AdapterParts {
  settings: Readonly<Settings>
  definitions: readonly IndexDefinition[]
  log: Log
  clock: Clock
  /** Of the program. */
  version: string
  /** What this index should hold: to be told before anything blank takes the place of what is missing. */
  holdings: Holdings
  /** To be told of each stored document whose text is no JSON any more; reads leave it out. */
  onGarbled?: OnGarbled | undefined
  /** Ends waiting for a server that is away. */
  signal?: AbortSignal | undefined
  /** Called when the disk takes nothing more. @returns true: it does again, try once more */
  onFull?: (() => boolean) | undefined
}

export interface OpenedAdapter {
  index: IndexAdapter
  /** @param guarded  the index behind its write barrier, so that restoring a snapshot shuts it */
  openSnapshots(guarded: IndexAdapter): Promise<Snapshots>
}

/** Data about a place where documents can be kept, and how it is opened. The plugin's name is its own. */
export interface IndexAdapterDefinition {
  /** For people, in a sentence: `the embedded index`. */
  title: string
  /** What `archivolt index-move` calls it; default: the plugin's name. */
  target?: string
  /** The setting of the plugin that chooses it, where it is set. Left out: it is chosen where no other is. */
  chosenBy?: keyof Settings & string
  /** Before any plugin has services or is set up. What it loads, only a server that uses it pays for. */
  open(parts: AdapterParts): Promise<OpenedAdapter>
}

/** One that a plugin has brought. */
export interface Adapter extends NamedIndex, Omit<IndexAdapterDefinition, keyof NamedIndex> {}

interface Bringer {
  name: string
  settings?: Readonly<Record<string, { env: string }>>
  indexAdapter?: IndexAdapterDefinition
}

export const adaptersOf = (plugins: readonly Bringer[]): Adapter[] =>
  plugins.flatMap(({ name, settings, indexAdapter }) => {
    if (!indexAdapter) return []
    const { target = name, chosenBy } = indexAdapter
    return [{ ...indexAdapter, name, target, variable: chosenBy && settings?.[chosenBy]?.env }]
  })

/** Its setting says so, or it needs none. */
export const isUsable = ({ chosenBy }: Adapter, settings: Readonly<Settings>): boolean =>
  chosenBy === undefined || isSet(settings[chosenBy])

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== ''

/**
 * The one that keeps the documents.
 * @param off  names of plugins that bring one, and are left out
 * @throws StartError  there is none, or more than one
 */
export function chooseAdapter(
  adapters: readonly Adapter[],
  settings: Readonly<Settings>,
  off: readonly string[],
): Adapter {
  const asked = adapters.filter((adapter) => adapter.chosenBy !== undefined && isUsable(adapter, settings))
  if (asked.length > 1)
    throw new StartError(
      `${asked.map(({ variable }) => variable).join(' and ')} each choose another index: set one of them only`,
    )
  const chosen = asked[0] ?? adapters.find(({ chosenBy }) => chosenBy === undefined)
  if (chosen) return chosen
  const ways = [
    ...off.map((name) => `take ${name} out of AV_PLUGINS_OFF`),
    ...adapters.map(({ variable }) => `set ${variable}`),
  ]
  throw new StartError(
    `No plugin keeps the documents: ${ways.length > 0 ? ways.join(', or ') : 'add one that brings an index adapter'}`,
  )
}

export async function openIndex(adapter: Adapter, parts: Omit<AdapterParts, 'holdings' | 'onGarbled'>): Promise<Index> {
  const { settings, definitions, clock, log } = parts
  const holdings = await openHoldings({ dataDir: settings.dataDir, kind: adapter.name, clock, log })
  const { garbled, onGarbled } = openGarbled(log)
  const { index, openSnapshots } = await adapter.open({ ...parts, holdings, onGarbled })
  try {
    await holdings.noteOpened(definitions.map(({ name }) => name))
    return await guardWrites(limitReads(timed(index, settings)), openSnapshots, holdings, garbled)
  } catch (error) {
    await index.close()
    throw error
  }
}
