/** Which kinds of documents can be chosen for a view. */
import type { IndexDefinition } from '../../core/index/mapping.ts'

/** Names of the indexes whose documents can be chosen for a view. */
export const chosenKinds = (definitions: readonly IndexDefinition[]): string[] =>
  definitions.filter(({ name, seen }) => seen && 'by' in seen && name in seen.by).map(({ name }) => name)
