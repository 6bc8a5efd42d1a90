/** What can be chosen for a view. */
import type { IndexDefinition } from '../../core/index/mapping.ts'

export /** Names of the indexes whose documents can be chosen for a view. */
const chosenKinds = (definitions: readonly IndexDefinition[]): string[] =>
  definitions.filter(({ name, seen }) => seen && 'by' in seen && name in seen.by).map(({ name }) => name)
