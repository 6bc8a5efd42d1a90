/** Loop delay: reports the delays of the server's event loop to the benches, measured inside the server. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { definePlugin, defineRoute, Type } from 'archivolt'

const delay = monitorEventLoopDelay({ resolution: 1 })
const inMs = (nanoseconds: number) => Math.round(nanoseconds / 1e4) / 100

const readDelay = defineRoute({
  method: 'GET', path: '/api/loop-delay/', access: 'user', summary: 'Delay of the event loop in ms since this was last asked',
  reply: Type.Object({ p50: Type.Number(), p99: Type.Number(), max: Type.Number() }),
  handle() {
    const reply = { p50: inMs(delay.percentile(50)), p99: inMs(delay.percentile(99)), max: inMs(delay.max) }
    delay.reset()
    return reply
  },
})

export default definePlugin({
  name: 'loopdelay',
  routes: [readDelay],
  setup: () => void delay.enable(),
  close: () => void delay.disable(),
})
