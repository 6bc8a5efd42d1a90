/**
 * The indexes of all collections on the server: `<prefix>_<name>` is an alias of `<prefix>_<name>_v<n>`; a new version
 * is filled and then swapped in.
 */
import type { estypes } from '@elastic/elasticsearch'
import { StartError } from 'archivolt'
import type { Shape } from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { ElasticError } from './fault.ts'
import { type Layout, mappingOf, metaIn, metaOf, propertiesOf, SERVING, settingsOf } from './layout.ts'

/** The indexes of a collection on the server. */
export interface IndexState {
  /** The index to which the alias points. */
  inUse: string | undefined
  /** Other versions, oldest first, and whether each was filled completely. */
  others: Array<{ index: string; isWhole: boolean }>
  /** From the mapping of the index in use; undefined: it is not ours, or of an unknown version. */
  shape: Shape | undefined
  highest: number
}

export type Store = ReturnType<typeof openStore>

export function openStore(connection: ElasticConnection, prefix: string) {
  function alias(name: string): string {
    return `${prefix}_${name}`
  }

  async function stateOf(name: string): Promise<IndexState> {
    const found = await connection.run((client) =>
      client.indices.get({
        index: [alias(name), `${alias(name)}_v*`],
        features: ['aliases', 'mappings'],
        ignore_unavailable: true,
        allow_no_indices: true,
        expand_wildcards: ['open', 'hidden'],
      }),
    )
    if (alias(name) in found) {
      throw new StartError(
        `Elasticsearch has an index ${alias(name)} that this program did not make, but this program needs the name for an alias: set AV_PREFIX to another prefix, or remove that index`,
      )
    }
    const state: IndexState = { inUse: undefined, others: [], shape: undefined, highest: 0 }
    for (const [index, { aliases = {}, mappings }] of Object.entries(found).sort(
      ([a], [b]) => (versionOf(name, a) ?? 0) - (versionOf(name, b) ?? 0),
    )) {
      const version = versionOf(name, index)
      const meta = metaIn(mappings?._meta)
      state.highest = Math.max(state.highest, version ?? 0)
      if (alias(name) in aliases) {
        if (state.inUse !== undefined)
          throw new StartError(
            `The alias ${alias(name)} points to ${state.inUse} and ${index}: remove it from one of them`,
          )
        state.inUse = index
        state.shape = meta?.shape
      } else if (version !== undefined) state.others.push({ index, isWhole: meta?.isWhole ?? false })
    }
    return state
  }

  function versionOf(name: string, index: string): number | undefined {
    const found = index.startsWith(`${alias(name)}_v`)
      ? /^[1-9]\d{0,8}$/.exec(index.slice(alias(name).length + 2))
      : null
    return found ? Number(found[0]) : undefined
  }

  return {
    alias,
    stateOf,

    async remove(indexes: readonly string[]): Promise<void> {
      // One request per index, because together their names may be too long for a URL.
      for (const index of indexes)
        await connection.run((client) => client.indices.delete({ index, ignore_unavailable: true }))
    },

    /** Creates an empty index and uses it at once. */
    async create(layout: Layout): Promise<void> {
      const { name } = layout.data
      const { highest } = await stateOf(name)
      const index = `${alias(name)}_v${highest + 1}`
      await connection.run(async (client) => {
        try {
          await client.indices.create({
            index,
            aliases: { [alias(name)]: {} },
            settings: settingsOf(false),
            mappings: mappingOf(layout, true),
          })
        } catch (error) {
          // The server had already done this before the connection broke.
          if (!isAlreadyThere(error)) throw error
        }
      })
    },

    /** Creates an empty index next to the one in use; replaces a leftover of the same name. @returns its name */
    async createBeside(layout: Layout): Promise<string> {
      const { name } = layout.data
      const { highest, inUse } = await stateOf(name)
      const last = `${alias(name)}_v${highest}`
      // The last index, if it is incomplete and not in use, is the leftover of an interruption.
      const index = highest === 0 || last === inUse ? `${alias(name)}_v${highest + 1}` : last
      await connection.run(async (client) => {
        const make = () =>
          client.indices.create({ index, settings: settingsOf(true), mappings: mappingOf(layout, false) })
        try {
          await make()
        } catch (error) {
          if (!isAlreadyThere(error)) throw error
          await client.indices.delete({ index, ignore_unavailable: true })
          await make()
        }
      })
      return index
    },

    /** Marks the new indexes as complete, swaps them in, in one step, and removes the previous ones. */
    async swap(built: ReadonlyMap<Layout, string>): Promise<void> {
      for (const [layout, index] of built) {
        await connection.run(async (client) => {
          await client.indices.putSettings({ index, settings: SERVING })
          await client.indices.refresh({ index })
          await client.indices.putMapping({ index, _meta: metaOf(layout, true) })
        })
      }
      const actions: estypes.IndicesUpdateAliasesAction[] = []
      for (const [layout, index] of built) {
        const { inUse } = await stateOf(layout.data.name)
        if (inUse === index) continue
        actions.push({ add: { index, alias: alias(layout.data.name) } })
        if (inUse !== undefined) actions.push({ remove_index: { index: inUse } })
      }
      if (actions.length > 0) await connection.run((client) => swapAll(client, actions))
    },

    async addFields(layout: Layout): Promise<void> {
      await connection.run((client) =>
        client.indices.putMapping({ index: alias(layout.data.name), properties: propertiesOf(layout) }),
      )
    },

    /** Writes the hash to the index in use. */
    async noteShape(layout: Layout): Promise<void> {
      await connection.run((client) =>
        client.indices.putMapping({ index: alias(layout.data.name), _meta: metaOf(layout, true) }),
      )
    },

    async pointTo(name: string, index: string): Promise<void> {
      await connection.run((client) =>
        client.indices.updateAliases({ actions: [{ add: { index, alias: alias(name) } }] }),
      )
    },
  }
}

type Client = ElasticConnection['client']
type Actions = estypes.IndicesUpdateAliasesAction[]

async function swapAll(client: Client, actions: Actions): Promise<void> {
  try {
    await client.indices.updateAliases({ actions })
  } catch (error) {
    // The request was repeated after the connection broke: if the previous indexes are gone, the first one succeeded.
    if (!isMissing(error) || !(await areThere(client, actions))) throw error
  }
}

async function areThere(client: Client, actions: Actions): Promise<boolean> {
  for (const { add } of actions)
    if (add && !(await client.indices.existsAlias({ index: add.index!, name: add.alias! }))) return false
  return true
}

const typeOf = (error: unknown): string | undefined =>
  error instanceof ElasticError
    ? error.type
    : (error as { meta?: { body?: { error?: { type?: string } } } } | undefined)?.meta?.body?.error?.type
const isAlreadyThere = (error: unknown): boolean => typeOf(error) === 'resource_already_exists_exception'
const isMissing = (error: unknown): boolean =>
  ['index_not_found_exception', 'aliases_not_found_exception'].includes(typeOf(error) ?? '')
