/**
 * Crash: ends the process, as a power failure would, before or after a named step of a job, before a change of many
 * videos, or before or after a write of a playlist. For the kill tests.
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
  needs: ['video', 'playlist'],
  settings: {
    crashAt: {
      env: 'AV_CRASH_AT',
      schema: Type.String(),
      default: '',
      meaning: '`<step>:<before|after>`, `patchWhere:<number>`, or `playlist <create|patch|remove>:<before|after>`',
    },
  },
  on: {
    'job.step': (app) => ({ step, phase }) => {
      if (`${step}:${phase}` === app.settings.crashAt) die()
    },
  },
  services({ settings, videos: { collection }, playlists }: AppOf<'video' | 'playlist'>) {
    const { patchWhere } = collection
    let changes = 0
    collection.patchWhere = (...given) => {
      if (`patchWhere:${++changes}` === settings.crashAt) die()
      return patchWhere(...given)
    }
    for (const method of ['create', 'patch', 'remove'] as const) {
      const write = playlists.collection[method] as (...given: unknown[]) => Promise<unknown>
      const dying = async (...given: unknown[]) => {
        if (settings.crashAt === `playlist ${method}:before`) die()
        const written = await write(...given)
        if (settings.crashAt === `playlist ${method}:after`) die()
        return written
      }
      Object.assign(playlists.collection, { [method]: dying })
    }
    return {}
  },
})
