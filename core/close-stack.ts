/** Remembers what was opened, and closes it in reverse order. */
import type { Log } from './log.ts'

interface Part {
  close(): unknown
}

export type CloseStack = ReturnType<typeof openCloseStack>

/** If one part fails to close, the others are closed nevertheless. */
export function openCloseStack(log: Log) {
  const parts: Part[] = []
  return {
    add<Opened extends Part>(part: Opened): Opened {
      parts.push(part)
      return part
    },

    async close(): Promise<void> {
      for (let part = parts.pop(); part; part = parts.pop()) {
        try {
          await part.close()
        } catch (error) {
          log.error({ err: error }, 'a part could not be closed')
        }
      }
    },
  }
}
