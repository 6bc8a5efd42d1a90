/** Spoken words: plays the hits of a search in subtitles one after the other, and joins them into a file. */
import { definePlugin } from 'archivolt'
import { cutSaid } from './cut-task.ts'
import { openSaidFiles, type SaidFiles } from './files.ts'
import { dropFile, listClips, listFiles, makeFile, sendFile } from './routes.ts'
import { openSaid, type SaidClips } from './said.ts'
import { fileTables } from './tables.ts'

export default definePlugin({
  name: 'said',
  needs: ['user', 'media', 'video', 'search'],
  migrations: [fileTables],
  lanes: { said: 1 },
  services: (app) => ({ said: openSaid(app), saidFiles: openSaidFiles(app) }),
  setup: ({ saidFiles }) => saidFiles.begin(),
  routes: [listClips, listFiles, makeFile, dropFile, sendFile],
  tasks: [cutSaid],
  on: {
    'user.removed':
      ({ saidFiles }) =>
      () =>
        saidFiles.dropUnknown(),
  },
})

declare module 'archivolt' {
  interface Services {
    said: {
      /** Finds the clips of a search in subtitles. */
      said: SaidClips
      /** Files with clips, by account. */
      saidFiles: SaidFiles
    }
  }
}
