/**
 * Faces: views of the library as folders of links, for media servers and players, which are kept up to date with the
 * archive.
 */
import { join } from 'node:path'
import { definePlugin, Type } from 'archivolt'
import type { App } from './app.ts'
import { ALL, type Faces, openFaces } from './faces.ts'
import { addFace, changeFace, listFaces, previewFace, removeFace } from './routes.ts'
import { addServer, changeServer, listServers, removeServer, testServer } from './servers/routes.ts'
import { leftTables, listTables, makingTables, serverSecrets, serverTables, toldTables } from './servers/tables.ts'
import { coveringTables, type Due, faceTables, stampTables } from './tables.ts'
import { followChanges, followLists, removeFace as removal, tellServer, updateFaces } from './tasks.ts'

/** Listens to events of one document. */
const noteOf =
  (kind: Due['kind']) =>
  (app: App) =>
  ({ id }: { id: string }) =>
    app.faces.note({ kind, id })

export default definePlugin({
  name: 'faces',
  needs: ['fetch', 'platform', 'user', 'media', 'channel', 'video', 'playlist', 'watch'],
  settings: {
    faceRoots: {
      env: 'AV_FACE_ROOTS',
      schema: Type.Array(Type.String({ minLength: 1 })),
      default: ({ dataDir }: { readonly dataDir: string }) => [join(dataDir, 'faces')],
      isPath: true,
      meaning: 'folders in which faces may be created: folders of links to the library, for media servers',
    },
  },
  migrations: [faceTables, serverTables, stampTables, listTables, makingTables, coveringTables, toldTables, leftTables],
  secretColumns: serverSecrets,
  lanes: { faces: 1, tell: 4 },
  routes: [
    listFaces,
    addFace,
    previewFace,
    changeFace,
    removeFace,
    listServers,
    addServer,
    changeServer,
    removeServer,
    testServer,
  ],
  implements: { 'media.links': (app) => (ids) => app.faces.linksOf(ids) },
  tasks: [updateFaces, followChanges, removal, tellServer, followLists],
  on: {
    'video.added': noteOf('video'),
    'video.changed': noteOf('video'),
    'video.moved': noteOf('video'),
    'video.removed': noteOf('video'),
    'video.restored': noteOf('video'),
    'video.adopted': (app) => () => app.faces.note(ALL),
    'channel.renewed': noteOf('show'),
    'playlist.renewed': noteOf('playlist'),
    'marks.changed':
      (app) =>
      ({ userId, ids }) =>
        app.faces.noteMarks(userId, ids),
    'view.changed': (app) => () => app.faces.noteViews(),
    'index.replaced': (app) => () => app.faces.noteReplaced(),
    'ledger.replaced': (app) => () => app.faces.noteReplaced(),
  },
  services: (app) => ({ faces: openFaces(app) }),
})

declare module 'archivolt' {
  interface Settings {
    faceRoots: string[]
  }
  interface Services {
    faces: {
      /** Folders of links to the library, for media servers: stores them and keeps them up to date. */
      faces: Faces
    }
  }
}
