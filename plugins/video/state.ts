/** State that the parts of the service `videos` share: the documents, and the locks on a video's files. */
import { openLocks } from 'archivolt'
import type { App } from './app.ts'
import { commentIndex, commentTextIndex, subtitleIndex, videoIndex } from './schema.ts'
import type { VideoPart, Videos } from './types.ts'

export interface VideoState
  extends Pick<Videos, 'collection' | 'comments' | 'commentTexts' | 'subtitles' | 'exclusive' | 'exclusiveAll'> {
  readonly app: App
  tellChanged(id: string, what: VideoPart): Promise<void>
}

export function openState(app: App): VideoState {
  const collection = app.index.collection(videoIndex)
  const locks = openLocks()
  return {
    ...{ app, collection },
    comments: app.index.collection(commentIndex),
    commentTexts: app.index.collection(commentTextIndex),
    subtitles: app.index.collection(subtitleIndex),

    async exclusive(id, work, channelId) {
      const ownChannel = channelId ?? (await collection.get(id))?.channel_id
      const locked = () => locks.exclusive(id, work)
      return ownChannel === undefined ? locked() : app.channels.shared(ownChannel, locked)
    },

    exclusiveAll(videos, work) {
      const channelIds = [...new Set(videos.map(({ channelId }) => channelId))].sort()
      const ids = videos.map(({ id }) => id).sort()
      const held = ids.reduceRight((inner, id) => () => locks.exclusive(id, inner), work)
      return channelIds.reduceRight((inner, id) => () => app.channels.shared(id, inner), held)()
    },

    tellChanged: (id, what) => app.emit('video.changed', { id, what }),
  }
}
