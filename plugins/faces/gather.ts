/**
 * Converts documents to units: the videos of a face, their numbers, the paths of their films, and the stamp of each
 * unit.
 */
import { chunksOf, isAppError, Slice, STAMP } from 'archivolt'
import type { ChannelDoc } from '../channel/schema.ts'
import type { PlacedState } from '../media/types.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { type Source, seasonOf, unitFor, unitOf } from './forms.ts'
import type { Run } from './run.ts'
import type { Rows } from './tables.ts'
import type { ShownUnit } from './write-files.ts'

/** Documents per batch, which is small because their descriptions may be long. */
const BATCH = 50
const NAMES_AT_ONCE = 1000
const NUMBERS_AT_ONCE = 500

/** A channel and the stamp of its document. */
export interface Show {
  doc: ChannelDoc
  stamp: string
}

export interface Gathered {
  docs: VideoDoc[]
  /** The units, without those that stay unchanged because their place is offline. */
  units: ShownUnit[]
}

/**
 * The stamp of all data from which a video's unit is made; if it changes, the unit is compared in full.
 * @param video, show  stamps of their documents
 */
export const stampOf = (run: Run, video: string, show: string, placed: PlacedState | undefined): string =>
  `${video} ${show} ${run.mark}${placed ? ` ${placed.state}` : ''}`

/** The stamp of a playlist. */
export const listStampOf = (run: Run, list: string): string => `${list} ${run.mark}`

/** The stamp of a show and its seasons. */
export const frameStampOf = (run: Run, id: string, show: string): string =>
  `${show} ${run.mark}${run.isHidden(id) ? ' hidden' : ''}`

export const within = ({ filters }: Run, ...more: VideoFilter[]): VideoFilter => ({ and: [...more, ...filters] })
export const ofChannel = (id: string): VideoFilter => ({ eq: ['channel_id', id] })

export function openGather(app: App, rows: Rows) {
  const { ledger, media, videos } = app

  /** undefined: the film is in a place and this face leaves places out, or the place has lost the film. */
  async function filmOf(
    { face }: Run,
    channelId: string,
    id: string,
  ): Promise<Pick<Source, 'film' | 'isPlaced'> | 'away' | undefined> {
    const placed = media.places.filmOf(id)
    if (!placed) return { film: media.pathOf(channelId, id), isPlaced: false }
    if (face.with_places === 0 || placed.state === 'lost') return undefined
    try {
      return { film: await media.places.pathIn(placed), isPlaced: true }
    } catch (thrown) {
      if (isAppError(thrown, 'unavailable')) return 'away'
      if (isAppError(thrown, 'not_found')) return undefined
      throw thrown
    }
  }

  async function unitsOf(
    run: Run,
    { doc: channel, stamp: show }: Show,
    docs: readonly VideoDoc[],
    stamps: ReadonlyMap<string, string>,
  ): Promise<ShownUnit[]> {
    const { form, template } = run.face
    const id = channel.channel_id
    const numbers = form === 'shows' ? await numbersOf(id, docs, run.signal) : undefined
    const placed = media.places.statesOf(docs.map((doc) => doc.platform_id))
    const units: ShownUnit[] = []
    const slice = new Slice()
    for (const video of docs) {
      const videoId = video.platform_id
      if (slice.isOver) await slice.next()
      const film = await filmOf(run, id, videoId)
      if (film === 'away') continue
      const stamp = stampOf(run, stamps.get(videoId) ?? '', show, placed.get(videoId))
      if (film === undefined) {
        units.push({ show: id, unit: unitOf(videoId), files: [], stamp })
        continue
      }
      const number = numbers?.get(videoId)?.get(seasonOf(video)) ?? 0
      const subtitleOf = (lang: string) => media.subtitlePathOf(id, videoId, lang)
      const source = { video, channel, ...film, number, artOf: media.artPathOf, subtitleOf }
      units.push({ show: id, stamp, ...unitFor(form, template, source) })
    }
    return units
  }

  /**
   * Numbers the videos of a show that have no number yet, in order of publication; videos that are added later get the
   * next numbers.
   */
  async function number(show: string, signal: AbortSignal): Promise<void> {
    const found: Array<{ id: string; season: number; order: string }> = []
    const paths = ['published', 'date_downloaded']
    for await (const batch of videos.collection.parts({ filter: ofChannel(show), paths })) {
      signal.throwIfAborted()
      const known = rows.numbers(
        show,
        batch.map(({ id }) => id),
      )
      for (const { id, values } of batch) {
        const [published, downloaded] = values.map(String) as [string, string]
        const season = seasonOf({ published })
        if (!known.get(id)?.has(season))
          found.push({ id, season, order: `${published} ${downloaded.padStart(12, '0')} ${id}` })
      }
    }
    found.sort((one, other) => (one.order < other.order ? -1 : 1))
    for (const some of chunksOf(found, NUMBERS_AT_ONCE))
      await ledger.write(() => {
        for (const { id, season } of some) rows.giveNumber(show, season, id)
      })
  }

  async function numbersOf(show: string, docs: readonly VideoDoc[], signal: AbortSignal) {
    const ids = docs.map(({ platform_id }) => platform_id)
    const known = rows.numbers(show, ids)
    if (docs.every((doc) => known.get(doc.platform_id)?.has(seasonOf(doc)))) return known
    await number(show, signal)
    return rows.numbers(show, ids)
  }

  return {
    async stampOfChannel(id: string): Promise<string> {
      const filter = { eq: ['channel_id', id] as ['channel_id', string] }
      for await (const [one] of app.channels.collection.parts({ filter, paths: [STAMP] })) return String(one?.values[0])
      return ''
    },

    /** Matching videos of a show, in small batches. */
    async *videosOf(run: Run, show: Show, filter: VideoFilter): AsyncGenerator<Gathered> {
      const id = show.doc.channel_id
      for await (const page of videos.collection.parts({ filter, paths: [STAMP], batch: NAMES_AT_ONCE }))
        for (const some of chunksOf(page, BATCH)) {
          run.signal.throwIfAborted()
          // A stamp is read before its document, so it may be too old, which costs one comparison, but never too new.
          const stamps = new Map(some.map((one) => [one.id, String(one.values[0])]))
          const docs = [...(await videos.collection.getMany([...stamps.keys()])).values()].filter(
            ({ channel_id }) => channel_id === id,
          )
          yield { docs, units: await unitsOf(run, show, docs, stamps) }
        }
    },
  }
}
