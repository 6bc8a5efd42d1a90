/**
 * Builds the record of contract 5.1 from texts: the stored document, its channel's, the caller's data, and the rank.
 */
import { type Actor, type Hit, roundScore, textUnder, withKeysInside } from 'archivolt'
import type { App } from './app.ts'
import type { VideoDoc, VideoTail } from './schema.ts'

/** Further keys of a record for the caller; each is omitted if it does not apply. */
export interface VideoKeys {
  watch_later?: true
  /** A copy that browsers can play. */
  copy_url?: string
  /** A thumbnail at the time that viewers propose. */
  dearrow_thumb_url?: string
}

const MEDIA = '/media/'
const textOf = (text: string, key: keyof VideoDoc): string | undefined => textUnder(text, key)
const NOTHING_WATCHED: VideoTail = { watched: false }

/** The channel's id: the folder in the media URL. */
export function channelIdOf(text: string): string {
  const url = textOf(text, 'media_url')
  if (!url?.startsWith(MEDIA)) throw new Error('a video document has no media URL of this server')
  return url.slice(MEDIA.length, url.indexOf('/', MEDIA.length))
}

/** @param more  additional keys of the record */
export function joinRecord(text: string, tail: VideoTail, channelText: string, more: object): string {
  return withKeysInside(text, 'player' satisfies keyof VideoDoc, tail, more, { channel: channelText })
}

/** The identifying fields of a video, read from its stored text without parsing it. */
export function headOf(text: string): { title: string; channelId: string; thumbUrl: string } {
  return {
    title: textOf(text, 'title') ?? '',
    channelId: channelIdOf(text),
    thumbUrl: textOf(text, 'vid_thumb_url') ?? '',
  }
}

/** The keys that later plugins add to these records for the caller, by id. */
export function ownKeysOf(ids: readonly string[], actor: Actor, { hook }: Pick<App, 'hook'>): Map<string, VideoKeys> {
  const keys = new Map<string, VideoKeys>()
  for (const fill of hook('video.keys'))
    for (const [id, own] of fill(ids, actor)) keys.set(id, { ...keys.get(id), ...own })
  return keys
}

/** Records of contract 5.1 for hits of a search or list, in their order, with the caller's data. */
export type Records = (hits: ReadonlyArray<Omit<Hit, 'score'> & { score?: number }>, actor: Actor) => Promise<string[]>

export function openVideoRecords(app: App): Records {
  const indexName = `${app.settings.prefix}_video`

  function tailsOf(ids: readonly string[], actor: Actor): Map<string, VideoTail> {
    const tails = new Map<string, VideoTail>()
    for (const fill of app.hook('video.tail')) for (const [id, tail] of fill(ids, actor)) tails.set(id, tail)
    return tails
  }

  /** A record is built from texts: one with damaged keys is omitted, and does not affect the others on its page. */
  function unlessDamaged<Made>(id: string, make: () => Made): Made[] {
    try {
      return [make()]
    } catch (error) {
      app.log.error({ err: error, id }, 'a video is omitted from a list: its document is damaged')
      return []
    }
  }

  /**
   * Needs one read for the channels of a whole page, one for the caller's data, and one for each plugin that adds keys.
   */
  return async function records(hits, actor) {
    const found = hits.flatMap((hit) => unlessDamaged(hit.id, () => ({ hit, channelId: channelIdOf(hit.text) })))
    const channels = await app.channels.textsFor([...new Set(found.map(({ channelId }) => channelId))])
    const ids = found.map(({ hit }) => hit.id)
    const tails = tailsOf(ids, actor)
    const ownKeys = ownKeysOf(ids, actor, app)
    const places = app.media.places.statesOf(ids)
    const missing = app.media.missing.of(ids)
    return found.flatMap(({ hit: { id, text, score = 0 }, channelId }) => {
      const place = places.get(id)
      // Object.assign, because V8 moves objects that are created with several spreads to the old heap.
      const more = Object.assign(
        {},
        app.platform.mirror(id),
        app.platform.original('video', id),
        ownKeys.get(id),
        place && { place },
        missing.has(id) && place?.state !== 'away' && { missing: true },
        { _index: indexName, _score: roundScore(score) },
      )
      const tail = tails.get(id) ?? NOTHING_WATCHED
      return unlessDamaged(id, () => joinRecord(text, tail, channels.get(channelId)!, more))
    })
  }
}
