/** The schema of a queue item as shown and backed up (contract 5.4). */
import { type Static, Type } from 'archivolt'
import type { ItemFailureClass } from '../platform/failure-classes.ts'

/** The platform's failure classes that are recorded on an item; the compiler reports a missing one here. */
const NOTED: Record<ItemFailureClass, true> = {
  gone: true,
  restricted: true,
  login_required: true,
  members_only: true,
  age: true,
  upcoming: true,
  not_offered: true,
  network: true,
  unknown: true,
}
export const ERROR_CLASSES = Object.keys(NOTED) as ItemFailureClass[]

export const DownloadDoc = Type.Object({
  platform_id: Type.String(),
  /** `priority` exactly when a pending item has auto_start. */
  status: Type.Enum(['pending', 'ignore', 'priority']),
  auto_start: Type.Boolean(),
  error_class: Type.Optional(Type.Enum([...ERROR_CLASSES])),
  message: Type.Optional(Type.String()),
  /** Epoch seconds: when it is retried automatically. */
  retry_at: Type.Optional(Type.Integer()),
  /** Internal, epoch seconds: when a failure that is retried regularly was first recorded. */
  noted_at: Type.Optional(Type.Integer()),
  /** Internal: a listing has shown it without a restriction since, so it was retried. */
  reopened: Type.Optional(Type.Boolean()),
  title: Type.String(),
  channel_id: Type.String(),
  channel_name: Type.String(),
  channel_indexed: Type.Boolean(),
  duration: Type.String(),
  published: Type.String(),
  timestamp: Type.Integer(),
  vid_type: Type.Enum(['videos', 'streams', 'shorts', 'unknown']),
  vid_thumb_url: Type.String(),
  /** Internal: the position in the queue, ascending, from the time when it was added. */
  position: Type.Integer(),
  /** Internal: whether to download it although the video is archived. */
  force: Type.Optional(Type.Boolean()),
  /** Internal: the picture's address on the platform. */
  art: Type.Optional(Type.String()),
})
export type DownloadDoc = Static<typeof DownloadDoc>
