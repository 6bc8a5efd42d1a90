/** Crash: ends the process, as a power cut would, before or after a named step of a job. For the kill tests. */
import { definePlugin, Type } from 'archivolt'

declare module 'archivolt' {
  interface Settings {
    crashAt: string
  }
}

export default definePlugin({
  name: 'crash',
  settings: { crashAt: { env: 'AV_CRASH_AT', schema: Type.String(), default: '', meaning: '`<step>:<before|after>`' } },
  on: {
    'job.step': (app) => ({ step, phase }) => {
      if (`${step}:${phase}` === app.settings.crashAt) process.kill(process.pid, 'SIGKILL')
    },
  },
})
