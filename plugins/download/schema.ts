/** The queue item as it is kept and shown (contract 5.4). */
import { defineIndex, Type, type Static } from 'archivolt'

export const ERROR_CLASSES = ['gone', 'restricted', 'login_required', 'members_only', 'age', 'upcoming', 'network', 'unknown'] as const

export const DownloadDoc = Type.Object({
  platform_id: Type.String(),
  /** `priority` exactly when a pending item has auto_start. */
  status: Type.Enum(['pending', 'ignore', 'priority']),
  auto_start: Type.Boolean(),
  error_class: Type.Optional(Type.Enum([...ERROR_CLASSES])),
  message: Type.Optional(Type.String()),
  /** Epoch seconds, with `upcoming`. */
  retry_at: Type.Optional(Type.Integer()),
  title: Type.String(),
  channel_id: Type.String(),
  channel_name: Type.String(),
  channel_indexed: Type.Boolean(),
  duration: Type.String(),
  published: Type.String(),
  timestamp: Type.Integer(),
  vid_type: Type.Enum(['videos', 'streams', 'shorts', 'unknown']),
  vid_thumb_url: Type.String(),
  /** Internal: order of the queue within one second. */
  position: Type.Integer(),
  /** Internal: queue it although the video is archived. */
  force: Type.Optional(Type.Boolean()),
  /** Internal: where the platform has the picture. */
  art: Type.Optional(Type.String()),
})
export type DownloadDoc = Static<typeof DownloadDoc>

export const downloadIndex = defineIndex({
  name: 'download',
  doc: DownloadDoc,
  fields: {
    platform_id: { type: 'keyword', filter: true },
    status: { type: 'keyword', filter: true },
    auto_start: { type: 'boolean', filter: true, sort: true },
    error_class: { type: 'keyword', filter: true },
    message: { type: 'keyword', filter: true },
    retry_at: { type: 'date', filter: true },
    title: { type: 'text', search: 1 },
    channel_id: { type: 'keyword', filter: true },
    vid_type: { type: 'keyword', filter: true },
    timestamp: { type: 'date', filter: true, sort: true },
    position: { type: 'long', sort: true, internal: true },
    force: { type: 'boolean', internal: true },
    art: { type: 'keyword', internal: true },
  },
  lists: [['auto_start', 'timestamp', 'position'], ['status', 'auto_start', 'timestamp', 'position'], ['channel_id', 'timestamp']],
  covers: [['status', 'vid_type']],
})
