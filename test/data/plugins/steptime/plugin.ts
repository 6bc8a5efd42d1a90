/** Step time: reports the duration of each named step of jobs to the benches, measured inside the server. */
import { definePlugin, defineRoute, Type } from 'archivolt'

const begun = new Map<string, number>()
const seconds = new Map<string, number>()

const readTimes = defineRoute({
  method: 'GET',
  path: '/api/step-times/',
  access: 'user',
  summary: 'Seconds that steps took in all since this was last asked, by their names',
  reply: Type.Record(Type.String(), Type.Number()),
  handle() {
    const reply = Object.fromEntries(seconds)
    seconds.clear()
    return reply
  },
})

export default definePlugin({
  name: 'steptime',
  routes: [readTimes],
  on: {
    'job.step':
      () =>
      ({ id, step, phase }) => {
        const key = `${id} ${step}`
        if (phase === 'before') return void begun.set(key, performance.now())
        const taken = (performance.now() - begun.get(key)!) / 1000
        begun.delete(key)
        seconds.set(step, (seconds.get(step) ?? 0) + taken)
      },
  },
})
