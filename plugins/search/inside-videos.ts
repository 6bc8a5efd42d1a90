/** Code shared by hits in subtitles and comments: the video of each hit, and the marked words. */
import { type HighlightOptions, highlighter } from 'archivolt'
import type { App } from './app.ts'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)

export type MarkOptions = Omit<HighlightOptions, 'before' | 'after' | 'escape'>

/** Returns HTML: the words of the term are marked, all other markup is escaped. */
export const markerOf = (term: string, options: MarkOptions): ((text: string) => string) =>
  term === ''
    ? escapeHtml
    : highlighter(term, {
        ...options,
        before: '<span class="settings-current">',
        after: '</span>',
        escape: escapeHtml,
      })

interface Head {
  title: string
  channelId: string
  channelName: string
  thumbUrl: string
}

/** @returns undefined for videos that do not exist, or that the account does not see */
export async function headsOf(ids: readonly string[], app: App): Promise<(id: string) => Head | undefined> {
  const texts = await app.videos.collection.getTexts([...new Set(ids)])
  const videos = new Map([...texts].map(([id, text]) => [id, app.videos.headOf(text)]))
  const names = await app.channels.names([...new Set([...videos.values()].map(({ channelId }) => channelId))])
  return (id) => {
    const video = videos.get(id)
    return video && { channelName: names.get(video.channelId) ?? '', ...video }
  }
}
