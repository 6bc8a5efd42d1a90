/** The task that updates yt-dlp: daily, at once if the current version fails, or on request. */
import { defineTask, errors, say, sentenceOf, Type, type Words } from 'archivolt'
import type { App } from './app.ts'
import type { PlatformService } from './platform.ts'
import type { Updates } from './update.ts'

export const updateDownloader = defineTask({
  name: 'update_downloader',
  title: 'Update yt-dlp',
  description: 'Switches to a newer yt-dlp after a test has shown that it downloads videos as well as the current one.',
  payload: Type.Object({
    /** Accepts releases of the last two days, too. */
    at_once: Type.Optional(Type.Boolean()),
    scheduled: Type.Optional(Type.Boolean()),
  }),
  lane: 'light',
  unique: true,
  // A person's request is honored even if the schedule is off.
  merge: (before, asked) => ({ ...before, ...asked, scheduled: before.scheduled === true && asked.scheduled === true }),
  silent: true,
  apiStart: true,
  schedule: { auto: '0 4 *', initially: 'random' },
  async run({ payload, signal, step }, app: App) {
    if (payload.scheduled && app.settings.ytdlpUpdate === 'off') return null
    const updates = updatesOf(app)
    const version = await updates.update({ atOnce: payload.at_once === true }, signal, step)
    const { outcome, version: tried, message } = updates.last()
    if (version !== undefined) {
      await app.emit('downloader.changed', { what: 'version' })
      await tell(app, 'info', say`yt-dlp ${{ version }} is now in use`)
    } else if (outcome === 'refused')
      await tell(
        app,
        'error',
        say`yt-dlp ${{ version: tried }} is not used: ${{ reason: sentenceOf(message) }}. The current version stays in use`,
      )
    return version ?? null
  },
})

function updatesOf({ platform }: App): Updates {
  const { updates } = platform as PlatformService
  if (!updates) throw errors.unavailable('yt-dlp cannot be updated without a ledger')
  return updates
}

const tell = (app: App, level: 'info' | 'error', message: Words): Promise<void> =>
  app.jobs.notify({ title: 'Update of yt-dlp', group: 'setting:application', level, messages: [message] })

declare module 'archivolt' {
  interface Events {
    /** Emitted when another version of yt-dlp is in use, or when its network route or client has changed (`way`). */
    'downloader.changed': { what: 'version' | 'way' }
  }
}
