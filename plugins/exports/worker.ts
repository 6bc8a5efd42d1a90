/** Reads one export in a separate process, because the file is not trusted and may be large. */
import type { Words } from 'archivolt'
import { readExport } from './files.ts'
import { type Found, Unusable } from './found.ts'

export type Answer = { found: Found } | { unusable: Words }

process.once('message', ({ path, name }: { path: string; name?: string }) => {
  void answer(path, name).then((said) => process.send!(said))
})

async function answer(path: string, name: string | undefined): Promise<Answer> {
  try {
    return { found: await readExport(path, name) }
  } catch (thrown) {
    if (!(thrown instanceof Unusable)) throw thrown
    return { unusable: thrown.words }
  }
}
