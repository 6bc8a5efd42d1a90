/** Checksums: stores one for every file, and runs a scrub that finds files changed by a disk (contract 9.31). */
import { definePlugin } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import { type Checksums, openChecksums } from './checksums.ts'
import { checksums } from './preferences.ts'
import { answerFault, listFaults, showChecksums, showVideoChecksums } from './routes.ts'
import { checksumTables, turnTables } from './rows.ts'
import { makeChecksums, scrub } from './tasks.ts'

const begin = (app: App) => async () => {
  await app.checksums.alarm()
  if (app.checksums.rows.fresh()) await app.jobs.start(makeChecksums)
}

export default definePlugin({
  name: 'checksum',
  needs: ['platform', 'media', 'channel', 'video', 'playlist', 'download'],
  migrations: [checksumTables, turnTables],
  lanes: { checksum: 1, scrub: 1 },
  preferences: { checksums },
  services: (app) => ({ checksums: openChecksums(app) }),
  implements: {
    'media.written': (app) => (files) => app.checksums.noteWritten(files),
    'video.belongings': (app) => app.checksums.belongings,
    'video.remove': ({ videos, checksums: service }) =>
      videos.removal((ids, step) => step('checksum.forget', () => service.rows.forget(ids))),
    'channel.remove': (app) => (id, step) => step('checksum.forget', () => app.checksums.rows.forget([id])),
  },
  routes: [showChecksums, listFaults, answerFault, showVideoChecksums],
  tasks: [makeChecksums, scrub],
  on: {
    'video.added': (app) => async () => void (await app.jobs.start(makeChecksums)),
    // The platform has lost the video, so there is no other copy.
    'video.lost': (app) => (video) => app.checksums.rows.first([video.id]),
    'channel.lost': (app) => async (channel) => {
      const filter: VideoFilter = { and: [{ eq: ['channel_id', channel.id] }, { exists: 'lost_date' }] }
      for await (const batch of app.videos.collection.scan({ filter }))
        await app.checksums.rows.first(batch.map(({ id }) => id))
    },
    'server.ready': begin,
  },
})

declare module 'archivolt' {
  interface Services {
    checksum: {
      checksums: Checksums
    }
  }
}
