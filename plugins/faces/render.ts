/** Updates a face from the archive: the whole face, or the part of one video, channel or playlist. */
import { chunksOf, type Part, STAMP } from 'archivolt'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { App } from './app.ts'
import { seasonOf, showUnits, unitOf, videoOf } from './forms.ts'
import { frameStampOf, listStampOf, ofChannel, openGather, type Show, within } from './gather.ts'
import type { Aired } from './nfo.ts'
import { filmPaths, playlistUnit, playlistUnitOf } from './playlists.ts'
import type { Run } from './run.ts'
import { openSurvey, type Survey } from './survey.ts'
import type { Rows, UnitName } from './tables.ts'
import { openSettle, type ShownUnit } from './write-files.ts'

const BATCH = 200
const LISTS_AT_ONCE = 20
/** The show under which playlists are stored. */
const LISTS = ''

const without = (show: string, unit: string): ShownUnit => ({ show, unit, files: [], stamp: '' })

/** Settles many units at once, because shows are often small. */
type Push = (units: readonly ShownUnit[]) => Promise<void>

export function openRender(app: App, rows: Rows) {
  const { videos, channels, playlists } = app
  const settle = openSettle(app, rows)
  const gather = openGather(app, rows)
  const survey = openSurvey(app, rows)

  function openBatches(run: Run, isForced = false): { push: Push; flush(): Promise<void> } {
    let waiting: ShownUnit[] = []
    const flush = async () => {
      const some = waiting
      waiting = []
      await settle(run, some, isForced)
    }
    return {
      async push(units) {
        waiting.push(...units)
        if (waiting.length >= BATCH) await flush()
      },
      flush,
    }
  }

  /** Removes the units of a show that are in the ledger but not wanted any more. */
  async function removeOthers(run: Run, show: string, isWanted: (unit: string) => boolean): Promise<void> {
    for (let after = ''; ; ) {
      const some = rows.unitsAfter(run.face.id, show, after, BATCH)
      if (some.length === 0) return
      after = some.at(-1)!
      await settle(
        run,
        some.filter((unit) => !isWanted(unit)).map((unit) => without(show, unit)),
      )
    }
  }

  /** Units of a show and its years. */
  function framesOf(run: Run, { doc, stamp }: Show, aired: Aired): ShownUnit[] {
    if (run.face.form !== 'shows' || aired.years.length === 0) return []
    const { channel_id: show } = doc
    const units = run.isHidden(show)
      ? showUnits({ ...doc, channel_description: '', channel_tags: [] }, aired)
      : showUnits(doc, aired, app.media.artPathOf)
    return units.map((unit) => ({ ...unit, show, stamp: frameStampOf(run, show, stamp) }))
  }

  async function renderShow(run: Run, show: Show, push: Push): Promise<void> {
    const id = show.doc.channel_id
    const years = new Set<number>()
    const seen = new Set<string>()
    let first = ''
    for await (const { docs, units } of gather.videosOf(run, show, within(run, ofChannel(id)))) {
      for (const doc of docs) {
        years.add(seasonOf(doc))
        if (first === '' || doc.published < first) first = doc.published
        seen.add(unitOf(doc.platform_id))
      }
      await push(units)
    }
    const frames = framesOf(run, show, { years: [...years].sort(), first })
    await push(frames)
    for (const { unit } of frames) seen.add(unit)
    await removeOthers(run, id, (unit) => seen.has(unit))
  }

  async function showOf(id: string): Promise<Show | undefined> {
    const stamp = await gather.stampOfChannel(id)
    const doc = await channels.get(id)
    return doc && { doc, stamp }
  }

  async function renderVideo(run: Run, id: string): Promise<void> {
    const filter = within(run, { eq: ['platform_id', id] })
    const { hits } = await videos.collection.find({ filter, size: 1, withoutTexts: true })
    const doc = hits.length > 0 ? await videos.get(id) : undefined
    const show = doc && (await showOf(doc.channel_id))
    const before = rows.showsOf(run.face.id, unitOf(id))
    if (show) for await (const { units } of gather.videosOf(run, show, filter)) await settle(run, units, true)
    const now = show ? [show.doc.channel_id] : []
    for (const other of before) if (!now.includes(other)) await settle(run, [without(other, unitOf(id))])
    for (const each of new Set([...before, ...now])) await renderFrame(run, each)
  }

  /** The day of the first video; '': the show has no video. */
  async function firstDay(run: Run, id: string): Promise<string> {
    const sort = [{ by: 'published', order: 'asc' } as const]
    const { hits } = await videos.collection.find({ filter: within(run, ofChannel(id)), sort, size: 1 })
    const [first] = hits.length > 0 ? [...(await videos.collection.getMany([hits[0]!.id])).values()] : []
    return first?.published ?? ''
  }

  /** Updates the years of a show after a single video was added or removed. */
  async function renderFrame(run: Run, id: string): Promise<void> {
    if (run.face.form !== 'shows') return
    const show = await showOf(id)
    const years: number[] = []
    for (const season of show ? rows.seasons(id) : []) {
      const ofYear: VideoFilter = { prefix: ['published', `${season}`.padStart(4, '0')] }
      if ((await videos.collection.count(within(run, ofChannel(id), ofYear), 1)) > 0) years.push(season)
    }
    const frames = show ? framesOf(run, show, { years, first: await firstDay(run, id) }) : []
    await settle(run, frames, true)
    const wanted = new Set(frames.map(({ unit }) => unit))
    const others = rows.frames(run.face.id, id).filter((unit) => !wanted.has(unit))
    await settle(
      run,
      others.map((unit) => without(id, unit)),
    )
  }

  const isChosen = ({ selection: { channels, playlists: chosen } }: Run, id: string): boolean =>
    chosen?.includes(id) ?? !channels

  /** @param stamp  of the playlist's document; '': the document may be out of date */
  async function playlistOf(run: Run, id: string, doc: PlaylistDoc | undefined, stamp = ''): Promise<ShownUnit> {
    const entries = doc && isChosen(run, id) ? doc.playlist_entries.filter(({ downloaded }) => downloaded) : []
    const ids = [...new Set(entries.map(({ platform_id }) => platform_id))]
    const paths = await filmPaths(rows, run.face.id, ids)
    if (!doc) return without(LISTS, playlistUnitOf(id))
    const unit = paths.size > 0 ? playlistUnit(doc, entries, paths) : { unit: playlistUnitOf(id), files: [] }
    return { ...unit, show: LISTS, stamp: stamp && listStampOf(run, stamp) }
  }

  /** @param isMoved  paths of videos may have changed, which playlists contain */
  async function renderPlaylists(run: Run, { isMoved, changed }: Pick<Survey, 'changed'> & { isMoved: boolean }) {
    const { push, flush } = openBatches(run)
    const seen = new Set<string>()
    for await (const page of playlists.collection.parts({ filter: run.lists, paths: [STAMP] })) {
      const isOld = ({ id, values: [stamp] }: Part) => {
        const unit = playlistUnitOf(id)
        const known = rows.unit(run.face.id, { show: LISTS, unit })
        return isMoved || changed.has(unit) || known?.stamp !== listStampOf(run, String(stamp))
      }
      for (const some of chunksOf(page.filter(isOld), LISTS_AT_ONCE)) {
        run.signal.throwIfAborted()
        const docs = await playlists.collection.getMany(some.map(({ id }) => id))
        for (const {
          id,
          values: [stamp],
        } of some)
          await push([await playlistOf(run, id, docs.get(id), String(stamp))])
      }
      for (const { id } of page) seen.add(playlistUnitOf(id))
    }
    await flush()
    await removeOthers(run, LISTS, (unit) => seen.has(unit))
  }

  async function removeShows(run: Run, shows: Iterable<string>): Promise<void> {
    for (const show of shows) await removeOthers(run, show, () => false)
  }

  return {
    renderVideo,

    /** Removes the files of videos that are no longer in the archive; everything else stays. */
    async removeGone(run: Run): Promise<void> {
      let after: UnitName = { show: '', unit: unitOf('') }
      for (;;) {
        const page = rows.stampsAfter(run.face.id, after, BATCH)
        if (page.length === 0) return
        after = page.at(-1)!
        const known = await videos.known(page.map(({ unit }) => videoOf(unit)))
        await settle(
          run,
          page.filter(({ unit }) => !known.has(videoOf(unit))).map(({ show, unit }) => without(show, unit)),
        )
      }
    },

    /** For a face without an account. */
    renderPlaylist: async (run: Run, id: string) => settle(run, [await playlistOf(run, id, await playlists.get(id))]),

    /** Renders the playlists that contain this video. */
    async renderPlaylistsOf(run: Run, videoId: string): Promise<void> {
      const filter = { and: [{ eq: ['entry', videoId] as ['entry', string] }, ...(run.lists ? [run.lists] : [])] }
      for await (const batch of playlists.collection.scan({ filter, batch: 20 }))
        await settle(run, await Promise.all(batch.map(({ id, doc }) => playlistOf(run, id, doc))))
    },

    async renderShow(run: Run, id: string): Promise<void> {
      const show = await showOf(id)
      const { push, flush } = openBatches(run, true)
      if (show) await renderShow(run, show, push)
      else await removeShows(run, [id])
      await flush()
      await renderPlaylists(run, { isMoved: true, changed: new Set() })
    },

    /**
     * Skips units that have not changed since the last render.
     * @param progress  called with the number of processed shows, and of all shows
     */
    async renderAll(run: Run, progress: (done: number, of: number) => void): Promise<void> {
      const { due, channels: stamps, films, changed } = await survey(run)
      run.state.films = films
      const gone = new Set(due)
      const { push, flush } = openBatches(run)
      let done = 0
      for (const ids of chunksOf([...due], BATCH))
        for (const [id, doc] of await channels.collection.getMany(ids)) {
          await renderShow(run, { doc, stamp: stamps.get(id) ?? '' }, push)
          gone.delete(id)
          progress(++done, due.size)
        }
      await removeShows(run, gone)
      await flush()
      await renderPlaylists(run, { isMoved: due.size > 0, changed })
    },

    /** Removes all files of the face. */
    async clear(run: Run): Promise<void> {
      for (let show: string | undefined = LISTS; show !== undefined; show = rows.showsAfter(run.face.id, show))
        await removeShows(run, [show])
    },
  }
}
