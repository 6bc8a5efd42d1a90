/** A plugin with its own worker thread. */
import { once } from 'node:events'
import { definePlugin, defineRoute, startWorker, Type } from '@archivolt/plugin'

export default definePlugin({
  name: 'loom',
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/loom/',
      access: 'open',
      summary: 'Asks the worker',
      reply: Type.Object({ said: Type.String() }),
      async handle() {
        const [said] = await once(startWorker(new URL('./worker.ts', import.meta.url)), 'message')
        return { said }
      },
    }),
  ],
})
