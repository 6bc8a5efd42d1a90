/** A third index, which any plugin may add: in the memory of the process, until it ends. */
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
