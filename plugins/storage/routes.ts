/** Storage over HTTP (contract 9.30). */
import { defineRoute, Type } from 'archivolt'
import type { App } from './app.ts'
import { shareOf } from './share.ts'

const bytes = Type.Integer({ description: 'bytes' })

export const showStorage = defineRoute({
  method: 'GET',
  path: '/api/storage/',
  access: 'admin',
  summary: 'What uses the space of the library’s disk, and when it will be full',
  reply: Type.Object({
    total: bytes,
    free: bytes,
    videos: bytes,
    bin: bytes,
    per_day: Type.Integer({ description: 'bytes of videos added per day, on average over the last 30 days' }),
    days_until_full: Type.Union([Type.Integer(), Type.Null()], { description: 'null: nothing was added recently' }),
    channels: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String(), media_size: bytes, doc_count: Type.Integer() }),
      { description: 'the largest first, at most 1,000' },
    ),
  }),
  errors: ['unavailable'],
  handle: (_input, app: App) => app.storage.figures(),
})

export const listProposals = defineRoute({
  method: 'GET',
  path: '/api/storage/proposal/',
  access: 'admin',
  summary:
    'Videos that could be removed to free space: watched, not protected, and still on the platform; largest first',
  query: { limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }) },
  reply: Type.Array(
    Type.Object({
      platform_id: Type.String(),
      title: Type.String(),
      channel_id: Type.String(),
      channel_name: Type.String(),
      media_size: Type.Integer({ description: 'bytes that its removal frees when it is deleted from the bin' }),
      watched: Type.Integer({ description: 'epoch seconds: when the last of the relevant accounts watched it' }),
    }),
  ),
  handle: ({ query: { limit } }, app: App) => app.storage.proposals(limit),
})

export const showDataFolder = defineRoute({
  method: 'GET',
  path: '/api/storage/data/',
  access: 'admin',
  summary: 'Whether the data folder is on a network share',
  reply: Type.Object({
    share: Type.Union([Type.String(), Type.Null()], {
      description: 'NFS, SMB …; null: it is on a disk of this machine',
    }),
  }),
  handle: async (_input, { settings }: App) => ({ share: (await shareOf(settings.dataDir)) ?? null }),
})
