/** Writes to a document that several writers share: each changes its own part, and the first one creates it. */
import type { Change, Collection, WriteOptions } from '../../core/index/port.ts'

/** @param doc  the initial document if none exists. @returns whether it was patched or created */
export async function patchOrCreate<Doc extends object, Names extends string>(
  collection: Pick<Collection<Doc, Names>, 'patch' | 'create'>,
  id: string,
  { change, doc }: { change: Change<Doc, Names>; doc: Doc },
  options?: WriteOptions,
): Promise<'patched' | 'created'> {
  for (;;) {
    if (await collection.patch(id, change, options)) return 'patched'
    if (await collection.create(id, doc, options)) return 'created'
  }
}
