/** Reads one export in a thread of its own: anybody may have written it, and it may be long. */
import { parentPort, workerData } from 'node:worker_threads'
import type { Words } from 'archivolt'
import { readExport } from './files.ts'
import { type Found, Unusable } from './found.ts'

export type Answer = { found: Found } | { unusable: Words }

const { path } = workerData as { path: string }

void answer().then((said) => parentPort!.postMessage(said))

async function answer(): Promise<Answer> {
  try {
    return { found: await readExport(path) }
  } catch (thrown) {
    if (!(thrown instanceof Unusable)) throw thrown
    return { unusable: thrown.words }
  }
}
