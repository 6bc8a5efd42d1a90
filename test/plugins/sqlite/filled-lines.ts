/** An index with the documents of `lines.ts` in its own folder, for the tests in this folder. */
import type { TestContext } from 'node:test'
import type { IndexDefinition } from '../../../core/index/mapping.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openBooks } from './books.ts'
import { lineIndex, lineOf } from './lines.ts'

export async function openLines(t: TestContext, folder: string, definitions: readonly IndexDefinition[] = [lineIndex]) {
  const index = await openBooks(folder, definitions)
  let isOpen = true
  const end = async () => {
    if (isOpen) await index.close()
    isOpen = false
  }
  t.after(end)
  return { ...index, end }
}

export async function filled(t: TestContext, count: number): Promise<string> {
  const folder = await temporaryFolder(t)
  const index = await openLines(t, folder)
  await index.collection(lineIndex).putMany(Array.from({ length: count }, (_, at) => lineOf(at)))
  await index.end()
  return folder
}

export async function allOf<Each>(batches: AsyncIterable<Each[]>): Promise<Each[]> {
  const all: Each[] = []
  for await (const batch of batches) all.push(...batch)
  return all
}
