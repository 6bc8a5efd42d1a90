/** Wraps the collections of an index, whatever their document types. */
import { madeOnce } from '../base/made-once.ts'
import type { Collection, IndexAdapter, Operation } from './port.ts'

export type AnyCollection = Collection<Record<string, unknown>, string>
type Operate = (...given: unknown[]) => unknown

export function wrapCollections(index: IndexAdapter, wrap: (plain: AnyCollection) => AnyCollection): IndexAdapter {
  const wrapped = new Map<string, AnyCollection>()
  const collection = (definition: AnyCollection['definition']): AnyCollection =>
    madeOnce(wrapped, definition.name, () => wrap(index.collection(definition) as unknown as AnyCollection))
  return { ...index, collection: collection as IndexAdapter['collection'] }
}

export const withOperations = (
  plain: AnyCollection,
  names: readonly Operation[],
  replace: (operate: Operate, name: Operation) => Operate,
): AnyCollection => ({
  ...plain,
  ...Object.fromEntries(names.map((name) => [name, replace(plain[name] as Operate, name)])),
})
