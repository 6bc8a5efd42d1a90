/**
 * Brings a face in line with the archive. What is to lie there is compared with what lies there, unit by unit; paths are
 * claimed in the ledger before a file is touched, so a render that is killed goes on where it was.
 */
import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { chunksOf, errors, filmInput, isAppError, say, type Words, wordsOf } from 'archivolt'
import type { ChannelDoc } from '../channel/schema.ts'
import type { PlaylistDoc } from '../playlist/schema.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import {
  codeOf,
  isSame,
  isText,
  type Links,
  type Listings,
  leadsTo,
  look,
  makeFolder,
  openLinks,
  openListings,
  removeEmpty,
  removeOwn,
  writeMade,
  writeText,
} from './disk.ts'
import { mainPath, type Source, seasonOf, seasonUnit, showUnits, unitFor, unitOf } from './forms.ts'
import { playlistUnit, playlistUnitOf } from './playlists.ts'
import { filterOf, type VideoFilter } from './selection.ts'
import { subRip } from './subrip.ts'
import type { Rows } from './tables.ts'
import type { Change, FaceRow, FaceState, KeptFile, LinkKind, Selection, WantedFile, WantedUnit } from './types.ts'

const BATCH = 100
const AT_ONCE = 8
const MOST_PROBLEMS = 20
/** Servers are told of single paths up to here, and of the whole face beyond. */
const MOST_CHANGES = 500
/** Where playlists lie among the shows. */
const LISTS = ''
/** The source was not there: it is looked for again by a whole render, or when the archive says that it is. */
const NONE = '-'
const NOT_BY_US = say`A file that this face has not made is in the way; move it elsewhere`
/** The disk, not a single file. */
const ENDS_ALL: Record<string, Words> = {
  ENOSPC: say`The disk is full`,
  EDQUOT: say`The disk is full`,
  EROFS: say`The disk is read-only`,
  EIO: say`The disk does not answer`,
  ENODEV: say`The disk does not answer`,
  ENOTCONN: say`The disk does not answer`,
  ESTALE: say`The disk does not answer`,
}

export interface Run {
  face: FaceRow
  selection: Selection
  filters: VideoFilter[]
  links: Links
  listings: Listings
  /** Everything is compared with the disk. */
  isWhole: boolean
  signal: AbortSignal
  /** Seen so far; filled on the way. */
  state: FaceState & { films: number; changed: number; links: Partial<Record<LinkKind, number>> }
  changes: Change[]
}

interface Plan {
  unit: string
  known: Map<string, KeptFile>
  todo: WantedFile[]
  gone: string[]
}

export function openRender(app: App, rows: Rows) {
  const { ledger, media, videos, channels, playlists } = app

  const begin = (face: FaceRow, isWhole: boolean, signal: AbortSignal): Run => {
    const selection = ledger.json<Selection>(face.selection, `faces_face.selection of ${face.id}`, { channels: [] })
    return {
      ...{ face, selection, isWhole, signal },
      filters: filterOf(selection, app),
      links: openLinks(),
      listings: openListings(),
      state: { films: 0, changed: 0, links: {} },
      changes: [],
    }
  }

  function note({ state }: Run, path: string, reason: Words): void {
    state.problems ??= []
    if (state.problems.length < MOST_PROBLEMS) state.problems.push({ path, reason })
    else state.more_problems = (state.more_problems ?? 0) + 1
  }

  function changed(run: Run, path: string, kind: Change['kind']): void {
    run.state.changed++
    if (run.changes.length < MOST_CHANGES) run.changes.push({ path, kind })
  }

  const at = ({ face }: Run, path: string): string => join(face.root, path)

  /** Whether a file that is not in the ledger is the one that is to lie there: a face that was made anew finds it. */
  const isIt = (run: Run, file: WantedFile): Promise<boolean> =>
    file.kind === 'text'
      ? isText(at(run, file.path), file.text)
      : 'from' in file
        ? leadsTo(at(run, file.path), file.from)
        : Promise.resolve(false)

  /** @returns whether there is something to do */
  async function isDue(run: Run, file: WantedFile, kept: KeptFile | undefined, isForced: boolean): Promise<boolean> {
    const path = at(run, file.path)
    if (!kept) {
      if (!(await run.listings.has(path)) || (await isIt(run, file))) return true
      note(run, file.path, NOT_BY_US)
      return false
    }
    const [, mark, seen] = kept
    if (seen === null) return true
    if (seen === NONE) return (isForced || run.isWhole) && 'from' in file && (await look(file.from)) !== undefined
    const isOld = mark !== file.mark || (isForced && file.kind !== 'text' && !(await isIt(run, file)))
    if (!isOld && !run.isWhole) return false
    if (run.isWhole && !(await run.listings.has(path))) return true
    if (file.kind !== 'text') return isOld
    const now = await look(path)
    if (now === undefined || isSame(now, seen, true)) return isOld || now === undefined
    if (run.face.takes_back === 1) return true
    note(run, file.path, say`Another program has changed this file, and it stays as it is`)
    return false
  }

  async function planOf(run: Run, { unit, files }: WantedUnit, kept: readonly KeptFile[], isForced: boolean) {
    const known = new Map(kept.map((file) => [file[0], file]))
    const film = files.find(({ kind }) => kind === 'film' || kind === 'sound')
    const isGone = film && 'from' in film && (isForced || !known.has(film.path)) && !(await isThere(film.from))
    if (isGone) note(run, film.path, say`The file of this video is missing`)
    const wanted = isGone ? [] : files
    const todo: WantedFile[] = []
    for (const file of wanted) if (await isDue(run, file, known.get(file.path), isForced)) todo.push(file)
    const paths = new Set(wanted.map(({ path }) => path))
    return { unit, known, todo, gone: [...known.keys()].filter((path) => !paths.has(path)) }
  }

  const isThere = (path: string): Promise<boolean> =>
    lstat(path).then(
      () => true,
      () => false,
    )

  /** Units of one show become as they are to be. */
  async function settle(run: Run, show: string, wanted: readonly WantedUnit[], isForced = false): Promise<void> {
    const { id } = run.face
    const known = rows.units(
      id,
      show,
      wanted.map(({ unit }) => unit),
    )
    const plans = await Promise.all(wanted.map((one) => planOf(run, one, known.get(one.unit) ?? [], isForced)))
    const busy = plans.filter(({ todo, gone }) => todo.length > 0 || gone.length > 0)
    if (busy.length === 0) return
    run.signal.throwIfAborted()
    await ledger.write(() => {
      for (const { unit, known, todo } of busy) {
        const claimed = new Map(known)
        for (const { path, mark } of todo) claimed.set(path, [path, mark, null])
        rows.setUnit(id, show, unit, [...claimed.values()])
      }
    })
    for (const some of chunksOf(busy, AT_ONCE)) await Promise.all(some.map((plan) => carryOut(run, plan)))
    await ledger.write(() => {
      for (const { unit, known } of busy) rows.setUnit(id, show, unit, [...known.values()])
    })
  }

  /** New files first: where one moves, its marks in a server have somewhere to go. */
  async function carryOut(run: Run, { known, todo, gone }: Plan): Promise<void> {
    const { root } = run.face
    for (const file of todo) {
      const isNew = !known.has(file.path)
      const seen = await make(run, file)
      if (seen === undefined) continue
      known.set(file.path, [file.path, file.mark, seen])
      if (seen !== NONE) changed(run, file.path, isNew ? 'added' : 'changed')
    }
    for (const path of gone.reverse()) {
      const [, , seen] = known.get(path)!
      if (seen !== NONE && !(await removeOwn(at(run, path), seen, isOfText(path)))) note(run, path, NOT_BY_US)
      known.delete(path)
      if (seen !== NONE) changed(run, path, 'removed')
    }
    for (const folder of new Set(gone.map((path) => dirname(at(run, path))))) await removeEmpty(root, folder)
  }

  const isOfText = (path: string): boolean => /\.(?:nfo|srt|m3u8)$/.test(path)

  /** @returns what the disk has now; undefined: it could not be, and people are told */
  async function make(run: Run, file: WantedFile): Promise<string | undefined> {
    const path = at(run, file.path)
    try {
      await makeFolder(dirname(path))
      await write(run, file, path)
      return (await look(path)) ?? NONE
    } catch (thrown) {
      run.signal.throwIfAborted()
      if (codeOf(thrown) === 'ENOENT' && file.kind !== 'text') return NONE
      const ends = ENDS_ALL[codeOf(thrown)]
      if (ends !== undefined) throw errors.unavailable(ends, { cause: thrown })
      if (isAppError(thrown, 'unprocessable') && file.kind === 'film' && !file.isSoft) throw thrown
      if (!isAppError(thrown)) app.log.warn({ err: thrown, face: run.face.id }, 'a file of a face could not be made')
      note(run, file.path, codeOf(thrown) === 'EEXIST' ? NOT_BY_US : wordsOf(thrown))
      return undefined
    }
  }

  async function write(run: Run, file: WantedFile, path: string): Promise<void> {
    const { links, state, signal } = run
    switch (file.kind) {
      case 'text':
        return writeText(path, file.text)
      case 'subtitles':
        return writeText(path, await subRip(app.videos.cuesIn(file.from)))
      case 'picture':
        return void (await links.picture(file.from, path))
      case 'film': {
        const kind = await links.film(file.from, path, file.isSoft)
        state.links[kind] = (state.links[kind] ?? 0) + 1
        return
      }
      case 'sound': {
        const codec = file.codec === 'aac' ? ['copy'] : ['aac', '-b:a', '160k']
        return writeMade(path, (part) =>
          media.ffmpeg([...filmInput(file.from), '-map', '0:a:0', '-c:a', ...codec, '-f', 'ipod', `file:${part}`], {
            signal,
            isBehind: true,
          }),
        )
      }
    }
  }

  const artOf: Source['artOf'] = (kind, id) => media.artPathOf(kind, id)

  /** undefined: it lies in a place, and this face leaves those out, or the place is away. */
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

  /** Units of these videos; those of a place that is away stay as they are, and are not among them. */
  async function unitsOf(run: Run, channel: ChannelDoc, docs: readonly VideoDoc[]): Promise<WantedUnit[]> {
    const { form, template } = run.face
    const id = channel.channel_id
    const numbers =
      form === 'shows'
        ? rows.numbers(
            id,
            docs.map(({ platform_id }) => platform_id),
          )
        : undefined
    const units: WantedUnit[] = []
    for (const video of docs) {
      const film = await filmOf(run, id, video.platform_id)
      if (film === 'away') continue
      if (film === undefined) {
        units.push({ unit: unitOf(video.platform_id), files: [] })
        continue
      }
      const number = numbers?.get(video.platform_id)?.get(seasonOf(video)) ?? 0
      const subtitleOf = (lang: string) => media.subtitlePathOf(id, video.platform_id, lang)
      units.push(unitFor(form, template, { video, channel, ...film, number, artOf, subtitleOf }))
    }
    return units
  }

  const within = (run: Run, ...more: VideoFilter[]): VideoFilter => ({ and: [...more, ...run.filters] })
  const ofChannel = (id: string): VideoFilter => ({ eq: ['channel_id', id] })

  /** Videos of a show that have no number yet get theirs, in order of publication; those that come late the next. */
  async function number(show: string, signal: AbortSignal): Promise<void> {
    const found: Array<{ id: string; season: number; order: string }> = []
    for await (const batch of videos.collection.scan({ filter: ofChannel(show), batch: BATCH })) {
      signal.throwIfAborted()
      const known = rows.numbers(
        show,
        batch.map(({ id }) => id),
      )
      for (const { id, doc } of batch) {
        const season = seasonOf(doc)
        if (known.get(id)?.has(season)) continue
        found.push({ id, season, order: `${doc.published} ${String(doc.date_downloaded).padStart(12, '0')} ${id}` })
      }
    }
    found.sort((one, other) => (one.order < other.order ? -1 : 1))
    for (const some of chunksOf(found, BATCH))
      await ledger.write(() => {
        for (const { id, season } of some) rows.giveNumber(show, season, id)
      })
  }

  const isNumbered = ({ face }: Run, show: string, docs: readonly VideoDoc[]): boolean => {
    if (face.form !== 'shows') return true
    const known = rows.numbers(
      show,
      docs.map(({ platform_id }) => platform_id),
    )
    return docs.every((doc) => known.get(doc.platform_id)?.has(seasonOf(doc)))
  }

  /** What the ledger has of a show beyond this. */
  async function removeOthers(run: Run, show: string, isWanted: (unit: string) => boolean): Promise<void> {
    let after = ''
    for (;;) {
      const some = rows.unitsAfter(run.face.id, show, after, BATCH)
      if (some.length === 0) return
      after = some.at(-1)!.unit
      const others = some.filter(({ unit }) => !isWanted(unit))
      await settle(
        run,
        show,
        others.map(({ unit }) => ({ unit, files: [] })),
      )
    }
  }

  async function renderShow(run: Run, channel: ChannelDoc, isForced = false): Promise<void> {
    const show = channel.channel_id
    const seasons = new Set<number>()
    const seen = new Set<string>()
    const scan = { filter: within(run, ofChannel(show)), batch: BATCH }
    for await (const batch of videos.collection.scan(scan)) {
      run.signal.throwIfAborted()
      const docs = batch.map(({ doc }) => doc)
      if (!isNumbered(run, show, docs)) await number(show, run.signal)
      const units = await unitsOf(run, channel, docs)
      await settle(run, show, units)
      for (const doc of docs) {
        seasons.add(seasonOf(doc))
        seen.add(unitOf(doc.platform_id))
      }
    }
    run.state.films += seen.size
    await renderFrame(run, channel, [...seasons].sort(), isForced)
    const isFrame = run.face.form === 'shows' && seen.size > 0
    const frames = new Set(isFrame ? ['show', ...[...seasons].map(seasonUnit)] : [])
    await removeOthers(run, show, (unit) => seen.has(unit) || frames.has(unit))
  }

  /** What is about the show and its seasons. */
  async function renderFrame(run: Run, channel: ChannelDoc, seasons: number[], isForced: boolean): Promise<void> {
    if (run.face.form !== 'shows' || seasons.length === 0) return
    await settle(run, channel.channel_id, showUnits(channel, seasons, artOf), isForced)
  }

  async function renderVideo(run: Run, id: string): Promise<void> {
    const unit = unitOf(id)
    const { hits } = await videos.collection.find({
      filter: within(run, { eq: ['platform_id', id] }),
      size: 1,
      withoutTexts: true,
    })
    const doc = hits.length > 0 ? await videos.get(id) : undefined
    const channel = doc && (await channels.get(doc.channel_id))
    const before = rows.places(run.face.id, unit)
    if (channel) {
      const show = channel.channel_id
      if (!isNumbered(run, show, [doc])) await number(show, run.signal)
      await settle(run, show, await unitsOf(run, channel, [doc]), true)
    }
    for (const show of before) if (show !== channel?.channel_id) await settle(run, show, [{ unit, files: [] }])
    for (const show of new Set([...before, ...(channel ? [channel.channel_id] : [])])) await renderFrameOf(run, show)
  }

  /** After a single video has come or gone: the years that there are now. */
  async function renderFrameOf(run: Run, show: string): Promise<void> {
    if (run.face.form !== 'shows') return
    const channel = await channels.get(show)
    const years: number[] = []
    for (const season of channel ? rows.seasons(show) : []) {
      const ofYear: VideoFilter = { prefix: ['published', `${season}`.padStart(4, '0')] }
      if ((await videos.collection.count(within(run, ofChannel(show), ofYear), 1)) > 0) years.push(season)
    }
    if (channel) await renderFrame(run, channel, years, true)
    const units = rows.frames(run.face.id, show)
    const wanted = new Set(years.length > 0 ? ['show', ...years.map(seasonUnit)] : [])
    await settle(
      run,
      show,
      units.filter((unit) => !wanted.has(unit)).map((unit) => ({ unit, files: [] })),
    )
  }

  /** Where a video's film lies in this face. */
  function pathsOf({ face }: Run, ids: readonly string[]): Map<string, string> {
    const found = new Map<string, string>()
    for (const { unit, files } of rows.unitsOf(face.id, ids.map(unitOf))) {
      const path = mainPath({ files: files.filter(([, , seen]) => seen !== NONE).map(([path]) => ({ path })) })
      if (path !== undefined) found.set(unit, path)
    }
    return new Map(ids.flatMap((id) => (found.has(unitOf(id)) ? [[id, found.get(unitOf(id))!] as const] : [])))
  }

  const isChosen = ({ selection: { channels, playlists: chosen } }: Run, id: string): boolean =>
    chosen?.includes(id) ?? !channels

  async function renderPlaylist(run: Run, id: string, doc: PlaylistDoc | undefined): Promise<void> {
    const entries = doc && isChosen(run, id) ? doc.playlist_entries.filter(({ downloaded }) => downloaded) : []
    const ids = [...new Set(entries.map(({ platform_id }) => platform_id))]
    const paths = new Map<string, string>()
    for (const some of chunksOf(ids, BATCH)) for (const [id, path] of pathsOf(run, some)) paths.set(id, path)
    const unit = doc && paths.size > 0 ? playlistUnit(doc, entries, paths) : { unit: playlistUnitOf(id), files: [] }
    await settle(run, LISTS, [unit])
  }

  async function renderPlaylists(run: Run): Promise<void> {
    const seen = new Set<string>()
    for await (const batch of playlists.collection.scan({ batch: 20 }))
      for (const { id, doc } of batch) {
        run.signal.throwIfAborted()
        await renderPlaylist(run, id, doc)
        seen.add(playlistUnitOf(id))
      }
    await removeOthers(run, LISTS, (unit) => seen.has(unit))
  }

  return {
    begin,
    renderVideo,

    renderPlaylist: async (run: Run, id: string) => renderPlaylist(run, id, await playlists.get(id)),

    /** Playlists that name this video. */
    async renderPlaylistsOf(run: Run, videoId: string): Promise<void> {
      for await (const batch of playlists.collection.scan({ filter: { eq: ['entry', videoId] }, batch: 20 }))
        for (const { id, doc } of batch) await renderPlaylist(run, id, doc)
    },

    async renderShow(run: Run, id: string): Promise<void> {
      const channel = await channels.get(id)
      if (channel) await renderShow(run, channel, true)
      else await removeOthers(run, id, () => false)
    },

    /** @param progress  shows done, of how many */
    async renderAll(run: Run, progress: (done: number, of: number) => void): Promise<void> {
      const all = await channels.collection.count(undefined, Number.POSITIVE_INFINITY)
      const visited = new Set<string>([LISTS])
      for await (const batch of channels.collection.scan())
        for (const { id, doc } of batch) {
          await renderShow(run, doc)
          visited.add(id)
          progress(visited.size - 1, all)
        }
      for (
        let show = rows.showsAfter(run.face.id, LISTS);
        show !== undefined;
        show = rows.showsAfter(run.face.id, show)
      )
        if (!visited.has(show)) await removeOthers(run, show, () => false)
      await renderPlaylists(run)
    },

    /** Everything goes. */
    async clear(run: Run): Promise<void> {
      await removeOthers(run, LISTS, () => false)
      for (
        let show = rows.showsAfter(run.face.id, LISTS);
        show !== undefined;
        show = rows.showsAfter(run.face.id, show)
      )
        await removeOthers(run, show, () => false)
    },
  }
}
export type Render = ReturnType<typeof openRender>
