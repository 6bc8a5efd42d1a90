/** Tasks that update faces: parts of faces after events, whole faces by schedule or on request. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'
import { FOLLOW } from './faces.ts'
import { LISTS, TELL } from './servers/servers.ts'

const RETRIES = { times: 3, delaySeconds: 60, factor: 4 } as const

export const updateFaces = defineTask({
  name: 'update_faces',
  title: 'Update folders for media servers',
  description: 'Compares the folders for media servers with the archive, and updates files that differ.',
  group: 'setting:faces',
  payload: Type.Object({ face: Type.Optional(Type.Integer({ minimum: 1 })) }),
  lane: 'faces',
  apiStart: true,
  unique: true,
  merge: (before, asked) => (before.face === asked.face ? asked : {}),
  resumable: true,
  schedule: { auto: '40 4 *', initially: 'auto', isNeeded: (app: App) => app.faces.rows.isAny() },
  async run(job, app: App) {
    await app.faces.renderAll(job, job.payload.face)
    return null
  },
})

export const followChanges = defineTask({
  name: FOLLOW,
  title: 'Update folders for media servers',
  payload: Type.Object({}),
  lane: 'faces',
  unique: true,
  internal: true,
  silent: true,
  resumable: true,
  retries: RETRIES,
  run: ({ signal }, app: App) => app.faces.follow(signal),
})

export const removeFace = defineTask({
  name: 'faces.remove',
  title: 'Remove a folder for media servers',
  payload: Type.Object({ face: Type.Integer({ minimum: 1 }) }),
  lane: 'faces',
  unique: ({ face }) => String(face),
  internal: true,
  resumable: true,
  run: ({ signal, payload }, app: App) => app.faces.clear(payload.face, signal),
})

/**
 * Properties of tasks that send requests to a media server: one job at a time for each server, repeated until it has
 * answered.
 */
const FOR_SERVER = {
  payload: Type.Object({ server: Type.Integer({ minimum: 1 }) }),
  lane: 'tell',
  unique: ({ server }: { server: number }) => String(server),
  internal: true,
  silent: true,
  resumable: true,
  retries: { times: 6, delaySeconds: 30, factor: 4 },
} as const

export const tellServer = defineTask({
  name: TELL,
  title: 'Notify a media server',
  ...FOR_SERVER,
  run: ({ signal, payload }, app: App) => app.faces.servers.deliver(payload.server, signal),
})

export const followLists = defineTask({
  name: LISTS,
  title: 'Update playlists of a media server',
  ...FOR_SERVER,
  run: ({ signal, payload }, app: App) => app.faces.servers.followLists(payload.server, signal),
})
