/** Detects that the length of a video has changed on the platform, and protects the longer film. */
import { epochSeconds, isAppError, isSameCut, say } from 'archivolt'
import type { DownloadDoc } from '../download/schema.ts'
import type { AskOptions } from '../platform/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'

/**
 * Records a different length in the document, until the lengths are equal again. @param seconds  length on the
 * platform; 0: unknown
 */
export async function noteCut(doc: VideoDoc, seconds: number, app: App): Promise<void> {
  if (seconds === 0 || doc.player.duration === 0) return
  const isSame = isSameCut(doc.player.duration, seconds)
  if (isSame ? !doc.cut : doc.cut?.duration === seconds) return
  const cut = isSame ? null : { duration: seconds, date: epochSeconds(app.clock) }
  await app.videos.change(doc.platform_id, { set: { cut } })
}

/** Whether the film is as long as its document says. A damaged film may be replaced, because the bin keeps it. */
async function isWhole({ platform_id: id, channel_id: channelId, player }: VideoDoc, { media }: App): Promise<boolean> {
  try {
    const path = await media.filmPath(channelId, id)
    const { durationSeconds } = await media.probe(path)
    return isSameCut(durationSeconds, player.duration) && !(await media.isCutOff(path, durationSeconds))
  } catch (thrown) {
    if (isAppError(thrown)) return false
    throw thrown
  }
}

/** Implements `download.begin`: an archived film is never replaced by a shorter one. */
export async function mayReplace(
  { platform_id: id }: DownloadDoc,
  asked: AskOptions,
  app: App,
): Promise<'take' | 'skip'> {
  if (!(await app.videos.has(id)) || app.media.missing.of([id]).size > 0) return 'take'
  // This also updates the document, from the answer.
  await app.platform.video(id, asked)
  const doc = await app.videos.get(id)
  if (!doc?.cut || doc.cut.duration > doc.player.duration || !(await isWhole(doc, app))) return 'take'
  const length = app.videos.durationText(doc.cut.duration)
  await app.jobs.notify({
    ...{ title: 'Downloading', group: 'download:run', level: 'info' },
    messages: [
      say`${{ title: doc.title }} was not downloaded again: it is now shorter on ${{ platform: app.platform.name }} (${{ length }})`,
    ],
  })
  return 'skip'
}
