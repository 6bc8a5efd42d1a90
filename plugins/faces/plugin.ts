/**
 * Faces: views of the library as folders of links, for media servers and players, which are kept up to date with the
 * archive.
 */
import { join } from 'node:path'
import { definePlugin, Type } from 'archivolt'
import { ALL, type Faces, openFaces } from './faces.ts'
import { addFace, changeFace, listFaces, previewFace, removeFace } from './routes.ts'
import { addServer, changeServer, listServers, removeServer, testServer } from './servers/routes.ts'
import { listTables, makingTables, serverSecrets, serverTables, toldTables } from './servers/tables.ts'
import { coveringTables, faceTables, stampTables } from './tables.ts'
import { followChanges, followLists, removeFace as removal, tellServer, updateFaces } from './tasks.ts'

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
  migrations: [faceTables, serverTables, stampTables, listTables, makingTables, coveringTables, toldTables],
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
    'video.added':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'video', id }),
    'video.changed':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'video', id }),
    'video.moved':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'video', id }),
    'video.removed':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'video', id }),
    'video.restored':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'video', id }),
    'video.adopted': (app) => () => app.faces.note(ALL),
    'channel.renewed':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'show', id }),
    'playlist.renewed':
      (app) =>
      ({ id }) =>
        app.faces.note({ kind: 'playlist', id }),
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
