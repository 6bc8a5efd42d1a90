/** The collections of the index by name, in the order of an archive. */
import type { App } from './app.ts'

/** In this order, so that who restores a file by hand has channels before their videos. */
const ORDER = ['channel', 'video', 'download', 'playlist', 'subtitle', 'comment']

/** Names of all collections that an archive has files of. */
export const collectionNames = ({ index }: App): string[] => [
  ...ORDER,
  ...index.definitions.map(({ name }) => name).filter((name) => !ORDER.includes(name)),
]

export const definitionOf = ({ index }: App, name: string) =>
  index.definitions.find((candidate) => candidate.name === name)

export function collectionOf(app: App, name: string) {
  const definition = definitionOf(app, name)
  return definition && app.index.collection(definition)
}
