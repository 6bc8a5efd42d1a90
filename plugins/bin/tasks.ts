/** Jobs that restore and delete entries of the bin: after an interruption, the next start completes them. */
import { defineTask, type Static, Type } from 'archivolt'
import type { App } from './app.ts'
import type { Chosen } from './types.ts'

const payload = Type.Object({
  entries: Type.Optional(Type.Array(Type.Integer())),
  removal: Type.Optional(Type.String()),
  all: Type.Optional(Type.Literal(true)),
  viewer: Type.Optional(Type.Integer()),
})

const chosenBy = ({ entries = [], removal, all, viewer }: Static<typeof payload>): Chosen => ({
  ...(all ? { all } : removal === undefined ? { entries } : { removal }),
  ...(viewer !== undefined && { viewer }),
})

export const restoreFromBin = defineTask({
  name: 'bin.restore',
  title: 'Restore from the bin',
  payload,
  lane: 'light',
  internal: true,
  resumable: true,
  run: (job, app: App): Promise<void> => app.bin.leaving.restore(chosenBy(job.payload), job),
})

export const emptyBin = defineTask({
  name: 'bin.empty',
  title: 'Empty the bin',
  payload,
  lane: 'light',
  internal: true,
  resumable: true,
  run: async (job, app: App): Promise<string> => String(await app.bin.leaving.empty(chosenBy(job.payload), job)),
})
