/** Writes or reads one whole backup, in a separate process with the lowest priority. */
import type { Head } from './whole/contents.ts'
import { asFault, type FaultKind } from './whole/fault.ts'
import { type Packing, pack } from './whole/pack.ts'
import { type Unpacking, unpack } from './whole/unpack.ts'

export type Asked = { pack: Packing } | { unpack: Unpacking }
export type Answer = { head: Head } | { fault: FaultKind; what: string } | { done: number; all: number }

const TELL_EVERY_MS = 500
let toldMs = 0
const say = (answer: Answer) => process.send!(answer)
function tell(done = 0, all = 0): void {
  const now = performance.now()
  if (now - toldMs < TELL_EVERY_MS) return
  toldMs = now
  say({ done, all })
}

process.once('message', async (asked: Asked) => {
  try {
    say({ head: await ('pack' in asked ? pack(asked.pack, tell) : unpack(asked.unpack, tell)) })
  } catch (thrown) {
    const { kind, message } = asFault(thrown)
    say({ fault: kind, what: message })
  }
})
