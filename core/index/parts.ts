/** Single values of documents by their paths, for indexes and views that have whole documents only. */
import type { Scalar } from './mapping.ts'
import type { Part } from './port.ts'
import type { AnyCollection } from './wrap.ts'

type Doc = Record<string, unknown>

/** As `Collection.parts` gives it. */
export function partOf(doc: Doc, path: string): Scalar | null {
  let value: unknown = doc
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null) return null
    value = (value as Doc)[key]
  }
  if (value === undefined || value === null) return null
  return typeof value === 'object' ? JSON.stringify(value) : (value as Scalar)
}

/** `parts` made of `scan`. */
export const partsOf = (scan: AnyCollection['scan']): AnyCollection['parts'] =>
  async function* ({ paths, ...query }) {
    for await (const docs of scan(query))
      yield docs.map(({ id, doc }): Part => ({ id, values: paths.map((path) => partOf(doc, path)) }))
  }
