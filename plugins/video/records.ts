/**
 * The record of contract 5.1 as it is sent: the stored text, the channel's stored text, and a small tail. Nothing is
 * parsed or written out again.
 */
import type { Actor, Hit } from 'archivolt'
import type { App } from './app.ts'

export interface VideoTail {
  /** Seconds. */
  position: number
  /** 0–100. */
  progress: number
}

// Quotes inside texts are escaped, so these can only be the keys themselves.
const PLAYER = '"player":{'
const MEDIA_URL = '"media_url":"/media/'
const NOTHING_WATCHED: VideoTail = { position: 0, progress: 0 }

export const roundScore = (score: number): number => Math.round(score * 100) / 100

/** The channel's id: the folder in the media URL. */
export function channelIdOf(text: string): string {
  const at = text.indexOf(MEDIA_URL)
  if (at < 0) throw new Error('a video document has no media URL of ours')
  const from = at + MEDIA_URL.length
  return text.slice(from, text.indexOf('/', from))
}

/** @param end  what follows the last key, from its comma to the closing brace */
export function joinRecord(text: string, { position, progress }: VideoTail, channelText: string, end: string): string {
  const at = text.lastIndexOf(PLAYER)
  const close = at < 0 ? -1 : text.indexOf('}', at)
  if (close < 0) throw new Error('a video document has no player')
  return `${text.slice(0, close)},"position":${position},"progress":${progress}${text.slice(close, -1)},"channel":${channelText}${end}`
}

export function openRecords(app: App) {
  const indexName = `${app.settings.prefix}_video`

  function tailsOf(ids: readonly string[], actor: Actor): Map<string, VideoTail> {
    const tails = new Map<string, VideoTail>()
    for (const fill of app.hook('video.tail')) for (const [id, tail] of fill(ids, actor)) tails.set(id, tail)
    return tails
  }

  /** One read for the channels of a whole page, one for the caller's positions. */
  return async function records(
    hits: ReadonlyArray<Omit<Hit, 'score'> & { score?: number }>,
    actor: Actor,
  ): Promise<string[]> {
    const channelIds = hits.map((hit) => channelIdOf(hit.text))
    const channels = await app.channels.textsFor([...new Set(channelIds)])
    const tails = tailsOf(
      hits.map((hit) => hit.id),
      actor,
    )
    return hits.map(({ id, text, score = 0 }, at) => {
      const end = `,${app.platform.mirrorText(id)}"_index":"${indexName}","_score":${roundScore(score)}}`
      return joinRecord(text, tails.get(id) ?? NOTHING_WATCHED, channels.get(channelIds[at]!)!, end)
    })
  }
}
