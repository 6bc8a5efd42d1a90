/**
 * Lists the collections of an archive by name, in the order of a backup: those of the index, and those in tables of
 * plugins.
 */
import type { IndexDefinition } from 'archivolt'
import type { App } from './app.ts'

/** The order in an archive: somebody who restores a file by hand needs channels before their videos. */
const ORDER = ['channel', 'video', 'download', 'playlist', 'subtitle', 'comment']

/** The collections in tables of plugins. */
export const storedByPlugins = ({ hook }: App) => hook('archive.documents')

const storedByPlugin = (app: App, name: string) => storedByPlugins(app).find((one) => one.name === name)

/** Names of all collections in an archive. */
export const collectionNames = (app: App): string[] => [
  ...ORDER,
  ...[...app.index.definitions.filter(({ derived }) => !derived), ...storedByPlugins(app)].flatMap(({ name }) =>
    ORDER.includes(name) ? [] : [name],
  ),
]

/** Names of the collections whose documents are only in the index. */
export const indexedNames = (app: App): string[] =>
  collectionNames(app).filter((name) => indexed(app, name) !== undefined)

const indexed = ({ index }: App, name: string) => index.definitions.find((candidate) => candidate.name === name)

/** The parts of a definition that backups use. */
export const definitionOf = (app: App, name: string): Pick<IndexDefinition, 'doc' | 'reform'> | undefined =>
  indexed(app, name) ?? storedByPlugin(app, name)

export function collectionOf(app: App, name: string) {
  const definition = indexed(app, name)
  return definition ? app.index.collection(definition) : storedByPlugin(app, name)
}
