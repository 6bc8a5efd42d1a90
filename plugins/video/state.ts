/** What the verbs of the service `videos` share: the documents, and what keeps work on one video's files in order. */
import { type Locks, openLocks } from 'archivolt'
import type { App } from './app.ts'
import {
  type CommentCollection,
  commentIndex,
  type SubtitleCollection,
  subtitleIndex,
  type VideoCollection,
  videoIndex,
} from './schema.ts'
import type { Removed, VideoPart } from './types.ts'

export interface VideoState {
  readonly app: App
  readonly collection: VideoCollection
  readonly comments: CommentCollection
  readonly subtitles: SubtitleCollection
  readonly locks: Locks
}

export const newState = (app: App): VideoState => ({
  app,
  collection: app.index.collection(videoIndex),
  comments: app.index.collection(commentIndex),
  subtitles: app.index.collection(subtitleIndex),
  locks: openLocks(),
})

/** As `Videos.exclusive` says. */
export async function exclusive<Result>(
  { app, collection, locks }: VideoState,
  id: string,
  work: () => Promise<Result>,
  channelId?: string,
): Promise<Result> {
  const ownChannel = channelId ?? (await collection.get(id))?.channel_id
  const locked = () => locks.exclusive(id, work)
  return ownChannel === undefined ? locked() : app.channels.shared(ownChannel, locked)
}

/** As `exclusive`, of many: each of their channels is held once. */
export function exclusiveAll<Result>(
  { app, locks }: VideoState,
  videos: readonly Removed[],
  work: () => Promise<Result>,
): Promise<Result> {
  const channelIds = [...new Set(videos.map(({ channelId }) => channelId))].sort()
  const ids = videos.map(({ id }) => id).sort()
  const held = ids.reduceRight((inner, id) => () => locks.exclusive(id, inner), work)
  return channelIds.reduceRight((inner, id) => () => app.channels.shared(id, inner), held)()
}

export const tellChanged = ({ app }: VideoState, id: string, what: VideoPart): Promise<void> =>
  app.emit('video.changed', { id, what })
