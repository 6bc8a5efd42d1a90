/** What goes with a video that is removed, as other plugins bring it by the hook `video.remove`. */
import type { Step } from 'archivolt'

export interface Removed {
  id: string
  channelId: string
}

export interface VideoRemoval {
  (video: Removed, step: Step): Promise<void>
  /** Asked instead where many go at once: for who can do that in less than one after the other. */
  many?(videos: readonly Removed[], step: Step): Promise<void>
}

/** What one of them throws is thrown once all have ended. */
export async function eachOf(videos: readonly Removed[], remove: VideoRemoval, step: Step): Promise<void> {
  const removals = await Promise.allSettled(videos.map((video) => remove(video, step)))
  for (const removal of removals) if (removal.status === 'rejected') throw removal.reason
}

export const removalOf = (remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval =>
  Object.assign(({ id }: Removed, step: Step) => remove([id], step), {
    many: (videos: readonly Removed[], step: Step) =>
      remove(
        videos.map(({ id }) => id),
        step,
      ),
  })
