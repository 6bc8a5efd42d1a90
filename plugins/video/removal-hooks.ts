/** The hooks of other plugins, which both ways of removing videos use: by id and by channel. */
import type { Step } from 'archivolt'
import type { App } from './app.ts'
import type { Removed, VideoBin, VideoRemoval } from './types.ts'

/** Throws the first error after all removals have ended. */
async function eachOf(videos: readonly Removed[], remove: VideoRemoval, step: Step): Promise<void> {
  const removals = await Promise.allSettled(videos.map((video) => remove(video, step)))
  for (const removal of removals) if (removal.status === 'rejected') throw removal.reason
}

/** Removes videos together, so that a plugin can write its data once. */
export async function removeAllWith({ hook }: App, videos: readonly Removed[], step: Step): Promise<void> {
  for (const remove of hook('video.remove'))
    await step('video.removeWith', () => (remove.many ? remove.many(videos, step) : eachOf(videos, remove, step)))
}

/** undefined: there is no bin, so removed videos are deleted at once. */
export const binOf = ({ hook }: Pick<App, 'hook'>): VideoBin | undefined => hook('video.bin').find(({ isOn }) => isOn())
