/** Titles and thumbnails that viewers propose, from the community service DeArrow. */
import { definePlugin, Type } from 'archivolt'
import { dearrow } from './preferences.ts'
import { beginRounds, refreshTitles } from './refresh-task.ts'
import { openDeArrow } from './titles.ts'

export default definePlugin({
  name: 'dearrow',
  needs: ['video'],
  settings: {
    dearrowUrl: {
      env: 'AV_DEARROW_URL',
      schema: Type.String({
        pattern: '^https?://[^\\s?#]*[^\\s?#/]$',
        description: 'a URL of http or https, without a slash at its end',
      }),
      default: 'https://sponsor.ajay.app',
      meaning: 'the service for titles and thumbnails by viewers',
    },
  },
  preferences: { dearrow },
  lanes: { dearrow: 1 },
  tasks: [refreshTitles],
  services: (app) => ({ dearrow: openDeArrow(app) }),
  on: {
    'video.added': (app) => async () => {
      if (app.dearrow.isWanted()) await app.jobs.start(refreshTitles)
    },
  },
  async setup(app) {
    let wasWanted = app.dearrow.isWanted()
    app.preferences.watch(() => {
      const isWanted = app.dearrow.isWanted()
      if (isWanted === wasWanted) return
      wasWanted = isWanted
      // Switched off, the round removes what is known.
      app.jobs.start(refreshTitles).catch((err: unknown) => app.log.warn({ err }, 'titles were not read'))
    })
    await beginRounds(app)
  },
})
