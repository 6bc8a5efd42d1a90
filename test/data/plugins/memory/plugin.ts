/** A third place for documents, as anybody may bring one: the memory of the process, as long as it lasts. */
import { definePlugin, Type } from 'archivolt'
import { openMemory } from './memory.ts'

export default definePlugin({
  name: 'memory',
  settings: {
    memoryIndex: { env: 'AV_MEMORY_INDEX', schema: Type.Boolean(), default: false, meaning: 'keep documents in memory' },
  },
  indexAdapter: { title: 'memory', chosenBy: 'memoryIndex', open: openMemory },
})

declare module 'archivolt' {
  interface Settings {
    memoryIndex?: boolean
  }
}
