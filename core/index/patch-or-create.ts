/** A document of many writers: each changes its own part, and whoever comes first makes the whole. */
import type { Change, Collection, WriteOptions } from './port.ts'

/** @param doc  what it begins as, where there is none. @returns which of both was done */
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
