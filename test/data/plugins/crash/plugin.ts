/**
 * Crash: ends the process, as a power cut would, before or after a named step of a job, or before a change of many
 * videos. For the kill tests.
 */
import { type AppOf, definePlugin, Type } from 'archivolt'

declare module 'archivolt' {
  interface Settings {
    crashAt: string
  }
}

const die = () => process.kill(process.pid, 'SIGKILL')

export default definePlugin({
  name: 'crash',
  needs: ['video'],
  settings: {
    crashAt: {
      env: 'AV_CRASH_AT',
      schema: Type.String(),
      default: '',
      meaning: '`<step>:<before|after>`, or `patchWhere:<number>`',
    },
  },
  on: {
    'job.step': (app) => ({ step, phase }) => {
      if (`${step}:${phase}` === app.settings.crashAt) die()
    },
  },
  services({ settings, videos: { collection } }: AppOf<'video'>) {
    const { patchWhere } = collection
    let changes = 0
    collection.patchWhere = (...given) => {
      if (`patchWhere:${++changes}` === settings.crashAt) die()
      return patchWhere(...given)
    }
    return {}
  },
})
