/** URLs of a video's film and subtitles in its document, derived from the film's location. */

import type { App } from './app.ts'
import type { VideoDoc } from './schema.ts'

export const isMisnamed = (
  { platform_id: id, channel_id: channelId, media_url: url, subtitles }: VideoDoc,
  { media }: App,
): boolean =>
  url !== media.mediaUrl(channelId, id) ||
  subtitles.some(({ lang, media_url }) => media_url !== media.subtitleUrl(channelId, id, lang))

export async function correctPaths(id: string, app: App): Promise<void> {
  const doc = await app.videos.get(id)
  if (!doc || !isMisnamed(doc, app)) return
  const subtitles = doc.subtitles.map((one) => ({
    ...one,
    media_url: app.media.subtitleUrl(doc.channel_id, id, one.lang),
  }))
  await app.videos.change(id, { set: { media_url: app.media.mediaUrl(doc.channel_id, id), subtitles } })
}
