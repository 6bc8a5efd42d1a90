/** Index adapters: what a plugin that stores documents declares, which one is chosen, and how it is opened. */
import type { Settings } from '../../config/schema.ts'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import { type OnGarbled, openGarbled } from './garbled.ts'
import { type Holdings, type NamedIndex, openHoldings } from './in-use.ts'
import type { IndexDefinition } from './mapping.ts'
import { observed } from './observed.ts'
import type { Index, IndexAdapter, Snapshots } from './port.ts'
import { limitReads } from './view.ts'
import { guardWrites } from './write-barrier.ts'

export interface AdapterParts {
  settings: Readonly<Settings>
  definitions: readonly IndexDefinition[]
  log: Log
  clock: Clock
  version: string
  /** What this index should hold. Report a loss here before replacing anything missing with something blank. */
  holdings: Holdings
  /** Call for each stored document whose text is no longer JSON; reads leave such documents out. */
  onGarbled?: OnGarbled | undefined
  /** Aborts waiting for an unreachable index server. */
  signal?: AbortSignal | undefined
  /** Called when the disk is full. @returns true if space was freed: try once more */
  onFull?: (() => boolean) | undefined
}

export interface OpenedAdapter {
  index: IndexAdapter
  /** @param guarded  the index behind its write barrier, which a restore of a snapshot must shut */
  openSnapshots(guarded: IndexAdapter): Promise<Snapshots>
}

/** Describes an index adapter and opens it. The adapter has the name of its plugin. */
export interface IndexAdapterDefinition {
  /** Shown to people, inside a sentence: `the embedded index`. */
  title: string
  /** Its name in `archivolt index-move`; default: the plugin's name. */
  target?: string
  /** The plugin's setting that chooses this adapter. Omitted: the default adapter, used if no other is chosen. */
  chosenBy?: keyof Settings & string
  /** Called before any setup. Load large modules here: only servers that use the adapter then load them. */
  open(parts: AdapterParts): Promise<OpenedAdapter>
}

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

/** Whether its setting is set, or it needs none. */
export const isUsable = ({ chosenBy }: Adapter, settings: Readonly<Settings>): boolean =>
  chosenBy === undefined || isSet(settings[chosenBy])

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== false && value !== ''

/** @param off  names of switched-off plugins with an adapter. @throws StartError  none, or more than one, is chosen */
export function chooseAdapter(
  adapters: readonly Adapter[],
  settings: Readonly<Settings>,
  off: readonly string[],
): Adapter {
  const asked = adapters.filter((adapter) => adapter.chosenBy !== undefined && isUsable(adapter, settings))
  if (asked.length > 1)
    throw new StartError(
      `${asked.map(({ variable }) => variable).join(' and ')} each choose a different index: set only one of them`,
    )
  const chosen = asked[0] ?? adapters.find(({ chosenBy }) => chosenBy === undefined)
  if (chosen) return chosen
  const ways = [
    ...off.map((name) => `remove ${name} from AV_PLUGINS_OFF`),
    ...adapters.map(({ variable }) => `set ${variable}`),
  ]
  throw new StartError(
    `No plugin stores the documents: ${ways.length > 0 ? ways.join(', or ') : 'add one that brings an index adapter'}`,
  )
}

export async function openIndex(adapter: Adapter, parts: Omit<AdapterParts, 'holdings' | 'onGarbled'>): Promise<Index> {
  const { settings, definitions, clock, log } = parts
  const holdings = await openHoldings({ dataDir: settings.dataDir, kind: adapter.name, clock, log })
  const { garbled, onGarbled } = openGarbled(log)
  const { index, openSnapshots } = await adapter.open({ ...parts, holdings, onGarbled })
  try {
    await holdings.noteOpened(definitions.map(({ name }) => name))
    return await guardWrites(limitReads(observed(index, settings)), openSnapshots, holdings, garbled)
  } catch (error) {
    await index.close()
    throw error
  }
}
