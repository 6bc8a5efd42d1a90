/** The service `faces`: stores faces, records which parts are due, and updates them from the archive. */
import { randomUUID } from 'node:crypto'
import { readFile, realpath, rm, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import {
  epochSeconds,
  errors,
  isAppError,
  makeFolders,
  say,
  type Words,
  withLimit,
  wordsOf,
  writeWhole,
} from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { codeOf, temporaryPart } from './disk.ts'
import { checkTemplate, DEFAULT_TEMPLATE, mainPath, seasonOf, unitFor, unitOf } from './forms.ts'
import { openRender } from './render.ts'
import { beginRun, type Run } from './run.ts'
import { filterOf, hidesOf, listsOf, withMembers } from './selection.ts'
import { openServers, type Servers } from './servers/servers.ts'
import { type Due, openRows, type Rows } from './tables.ts'
import { type FaceRow, type FaceState, type Form, inodeIn, type LinkKind, type Selection } from './types.ts'
import { diskFault, type Hand, openHand } from './worker-client.ts'
import { noLink } from './write-files.ts'

const MOST_FACES = 20
const MOST_DUE = 500
const SHOWN = 20
/** For more marks than this, comparing everything takes less time than updating each video in every face. */
const SINGLE_MARKS = 20
/** A disk that has to spin up takes seconds. */
const ANSWERS_WITHIN_MS = 20_000
/** A file in the root of a face, which is missing in the empty mount point of an offline disk. */
const MARK = '.archivolt-face'
const MARK_TEXT =
  'This file marks a folder for media servers that Archivolt keeps up to date. Do not move or delete it.'
export const FOLLOW = 'faces.follow'
/** Renders every face in full. */
export const ALL: Due = { kind: 'face', id: '' }

export interface FaceInput {
  name: string
  root: string
  form: Form
  template?: string | undefined
  selection: Selection
  takesBack?: boolean | undefined
  withPlaces?: boolean | undefined
  isOn?: boolean | undefined
}

export interface Faces {
  readonly rows: Rows
  readonly servers: Servers
  selectionOf(row: FaceRow): Selection
  stateOf(row: FaceRow): FaceState
  /** @throws bad_request, unprocessable, conflict: why the face is not possible */
  add(face: FaceInput): Promise<FaceRow>
  change(id: number, change: Partial<FaceInput>): Promise<FaceRow>
  /** Accepts the current folder as that of the face. */
  accept(id: number): Promise<void>
  /** The first paths that the face would have, and the kind of link. */
  preview(face: Omit<FaceInput, 'name'>): Promise<{ paths: string[]; link?: LinkKind; reason?: Words }>
  /** Resolves once the entries are on disk; a job processes them. */
  note(...due: Due[]): Promise<void>
  /** The inodes of a video's hard links in faces that are kept up to date, by video. */
  linksOf(videoIds: readonly string[]): Map<string, number[]>
  /** Reports that accounts may see other videos, or groups may have other members. */
  noteViews(): Promise<void>
  /** Reports that the account has marked or unmarked these videos. */
  noteMarks(userId: number, ids: readonly string[]): Promise<void>
  /** Reports that documents were replaced, perhaps with unchanged stamps. */
  noteReplaced(): Promise<void>
  /** Processes the noted entries, in a job. */
  follow(signal: AbortSignal): Promise<void>
  /** Compares everything, in one face or in all. */
  renderAll(
    job: { signal: AbortSignal; progress(fraction: number, ...words: Words[]): void },
    id?: number,
  ): Promise<void>
  /** Removes all files that the face has created, then the face. @throws not_found */
  clear(id: number, signal: AbortSignal): Promise<void>
}

/** Starts a worker for disks, and ends it after the work. */
async function withHand<Result>(signal: AbortSignal, work: (hand: Hand) => Promise<Result>): Promise<Result> {
  const hand = openHand(signal)
  try {
    return await work(hand)
  } finally {
    await hand.end()
  }
}

/** The same for a request. @throws unavailable: the disk does not respond */
const atOnce = <Result>(work: (hand: Hand) => Promise<Result>): Promise<Result> =>
  withLimit(ANSWERS_WITHIN_MS, undefined, (signal) =>
    withHand(signal, work).catch((thrown: unknown) => {
      throw signal.aborted ? errors.unavailable(diskFault('ETIMEDOUT'), { cause: thrown }) : thrown
    }),
  )

const isWithin = (outer: string, inner: string): boolean => {
  const way = relative(outer, inner)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
const overlap = (one: string, other: string): boolean => isWithin(one, other) || isWithin(other, one)
const real = (path: string): Promise<string | undefined> => realpath(path).catch(() => undefined)

/** The real path of a folder that may not exist yet. */
async function realOf(path: string): Promise<string> {
  const found = await real(path)
  if (found !== undefined) return found
  const parent = dirname(path)
  return parent === path ? path : join(await realOf(parent), path.slice(parent.length))
}

export function openFaces(app: App): Faces {
  const { ledger } = app
  const rows = openRows(ledger)
  const servers = openServers(app, rows)
  const render = openRender(app, rows)
  const selectionOf = (row: FaceRow) =>
    ledger.json<Selection>(row.selection, `faces_face.selection of ${row.id}`, { channels: [] })
  const stateOf = (row: FaceRow) => ledger.json<FaceState>(row.state, `faces_face.state of ${row.id}`, {})

  function surely(id: number): FaceRow {
    const row = rows.face(id)
    if (!row) throw errors.notFound('face')
    return row
  }

  /** The stored number of a video in its season; without one, the number that a new folder would give it. */
  async function likelyNumberOf(video: VideoDoc): Promise<number> {
    const { channel_id: show, platform_id: id, published } = video
    const season = seasonOf(video)
    const until: VideoFilter = { range: ['published', { gte: `${season}-01-01`, lte: published }] }
    const known = rows.numbers(show, [id]).get(id)?.get(season)
    return known ?? (await app.videos.collection.count({ and: [{ eq: ['channel_id', show] }, until] }))
  }

  /** @throws unprocessable, conflict: why no face is possible in this folder, and what to do */
  async function checkedRoot(path: string, others: readonly FaceRow[]): Promise<string> {
    if (!isAbsolute(path)) throw errors.wrongField('root', 'must be an absolute path')
    const root = await realOf(resolve(path))
    const { faceRoots, mediaDir, cacheDir, dataDir, libraryRoots } = app.settings
    const allowed = await Promise.all(faceRoots.map((one) => realOf(resolve(one))))
    if (!allowed.some((one) => isWithin(one, root)))
      throw errors.unprocessable(
        say`Archivolt may not write to ${{ root: path }}. Start the server with AV_FACE_ROOTS=${{ roots: [...faceRoots, path].join(',') }}`,
      )
    const places = app.media.places.list().map((place) => place.path)
    for (const own of [mediaDir, cacheDir, ...libraryRoots, ...places]) {
      const folder = await realOf(resolve(own))
      if (overlap(folder, root))
        throw errors.unprocessable(say`${{ root: path }} and ${{ own }} overlap: choose another folder`)
    }
    if (isWithin(root, await realOf(resolve(dataDir))))
      throw errors.unprocessable(say`${{ root: path }} contains the data folder: choose another folder`)
    const other = others.find((one) => overlap(one.root, root))
    if (other) throw errors.conflict(say`This folder and that of “${{ name: other.name }}” overlap: choose another one`)
    return root
  }

  /** @throws unprocessable: why the folder cannot be written */
  async function writeMark(root: string, mark: string): Promise<void> {
    try {
      await makeFolders(root)
      if (!(await stat(root)).isDirectory()) throw Object.assign(new Error('a file'), { code: 'ENOTDIR' })
      const path = join(root, MARK)
      const [made] = await atOnce((hand) => hand.ask('make', [{ path, text: `${mark}\n${MARK_TEXT}\n` }]))
      if (made!.code !== undefined) throw Object.assign(new Error(made!.message), { code: made!.code })
    } catch (cause) {
      if (isAppError(cause)) throw cause
      const reason = codeOf(cause)
      throw errors.unprocessable(
        say`${{ root }} cannot be written (${{ reason }}): check its disk and its permissions`,
        {
          cause,
        },
      )
    }
  }

  const markIn = async (root: string): Promise<string | undefined> =>
    (await readFile(join(root, MARK), 'utf8').catch(() => undefined))?.split('\n', 1)[0]

  /** @throws unavailable: library or face is offline, so the content of the face is unknown */
  async function mustBeThere({ root, mark }: FaceRow): Promise<void> {
    const absence = await app.media.absence()
    if (absence !== undefined) throw errors.unavailable(absence)
    if ((await markIn(root)) !== mark)
      throw errors.unavailable(
        say`The folder ${{ root }} is missing or is a different one: it has no file ${{ file: MARK }}. Connect its disk; everything then continues automatically. If this is the right folder from now on, accept it`,
      )
  }

  /** The kind of link by which the library can be linked in this folder, found by a try with a temporary file. */
  async function tryLink(root: string): Promise<LinkKind> {
    return app.media.scratch(async (folder) => {
      const film = join(folder, 'film')
      await writeWhole(film, 'tried')
      const path = temporaryPart(join(root, MARK))
      const [made] = await atOnce((hand) => hand.ask('make', [{ path, from: film, as: 'film' }]))
      await rm(path, { force: true })
      const { link, code = '', message = '' } = made!
      if (link && link !== 'copy') return link
      throw errors.unprocessable(code === 'NOLINK' ? noLink(message) : diskFault(code))
    })
  }

  /**
   * Stores the outcome of a render as a sentence, so that the failure of one face does not stop the others.
   * @returns whether it succeeded
   */
  async function within(
    row: FaceRow,
    isWhole: boolean,
    signal: AbortSignal,
    work: (run: Run) => Promise<void>,
  ): Promise<boolean> {
    const began = app.clock.steady()
    const hand = openHand(signal)
    const run = beginRun(app, row, hand, signal)
    try {
      await mustBeThere(row)
      try {
        select(run)
      } catch (thrown) {
        // It cannot be known what else it shows.
        await render.removeGone(run)
        throw thrown
      }
      await work(run)
    } catch (thrown) {
      if (signal.aborted) throw thrown
      if (!isAppError(thrown)) app.log.error({ err: thrown, face: row.name }, 'a face could not be updated')
      run.state.error = wordsOf(thrown)
    } finally {
      await hand.end()
    }
    const { films, ...state } = run.state
    const before = stateOf(row)
    const next: FaceState = {
      ...state,
      at: epochSeconds(app.clock),
      took_ms: Math.round(app.clock.steady() - began),
      ...(isWhole && run.state.error === undefined ? { films } : before.films !== undefined && { films: before.films }),
      links: { ...before.links, ...state.links },
      ...(!isWhole && state.problems === undefined && before.problems && { problems: before.problems }),
    }
    await ledger.write(() => rows.setState(row.id, JSON.stringify(next)))
    await servers.tell(row, run.changes, run.state.changed > run.changes.length)
    return run.state.error === undefined
  }

  /** @throws conflict: its account or a group no longer exists */
  function select(run: Run): void {
    run.selection = withMembers(run.selection, app)
    run.filters = filterOf(run.selection, app)
    run.lists = listsOf(run.selection, app)
    run.isHidden = hidesOf(run.selection, app)
  }

  async function renderOne(row: FaceRow, { signal, progress }: Parameters<Faces['renderAll']>[0]): Promise<boolean> {
    return within(row, true, signal, (run) =>
      render.renderAll(run, (done, of) =>
        progress(Math.min(1, done / Math.max(1, of)), say`${{ name: row.name }}: ${{ done }} of ${{ of }} channels`),
      ),
    )
  }

  function mustBeUsable({ form, template, selection }: Pick<FaceInput, 'form' | 'template' | 'selection'>): void {
    if (form !== 'shows') checkTemplate(template ?? DEFAULT_TEMPLATE)
    if (selection.watched !== undefined && selection.account === undefined)
      throw errors.wrongField('selection.account', 'is required with watched')
    filterOf(withMembers(selection, app), app)
  }

  async function note(...due: Due[]): Promise<void> {
    if (!rows.isAny()) return
    await ledger.write(() => due.forEach(rows.noteDue))
    await app.jobs.start(FOLLOW, {})
  }

  const inputOf = (row: FaceRow): FaceInput => ({
    name: row.name,
    root: row.root,
    form: row.form,
    template: row.template,
    selection: selectionOf(row),
    takesBack: row.takes_back === 1,
    withPlaces: row.with_places === 1,
    isOn: row.is_on === 1,
  })
  const columnsOf = (face: FaceInput) => ({
    name: face.name,
    form: face.form,
    template: face.template ?? DEFAULT_TEMPLATE,
    selection: JSON.stringify(face.selection),
    takes_back: Number(face.takesBack ?? true),
    with_places: Number(face.withPlaces ?? true),
    is_on: Number(face.isOn ?? true),
  })

  /**
   * Renders a playlist. If the face has the view of an account, or selects this playlist, other videos may now belong
   * to it, so everything is compared.
   */
  const followPlaylist = (run: Run, id: string): Promise<void> =>
    run.selection.playlists?.includes(id) || run.selection.account !== undefined
      ? render.renderAll(run, () => undefined)
      : render.renderPlaylist(run, id)

  async function followIn(run: Run, due: readonly Due[]): Promise<void> {
    for (const { kind, id } of due) {
      run.signal.throwIfAborted()
      if (kind === 'video') await render.renderVideo(run, id)
      else if (kind === 'show') await render.renderShow(run, id)
      else await followPlaylist(run, id)
      if (kind === 'video') await render.renderPlaylistsOf(run, id)
    }
  }

  return {
    ...{ rows, servers, selectionOf, stateOf, note },

    linksOf(videoIds) {
      const ids = new Map(videoIds.map((id) => [unitOf(id), id]))
      const links = new Map<string, number[]>()
      for (const { unit, files } of rows.unitsOfAll([...ids.keys()])) {
        const id = ids.get(unit)!
        links.set(id, [...(links.get(id) ?? []), ...files.flatMap(([, , seen]) => inodeIn(seen) ?? [])])
      }
      return links
    },

    async noteViews() {
      const concerned = rows.faces().filter((row) => {
        const { account, groups } = selectionOf(row)
        return row.is_on === 1 && (account !== undefined || groups !== undefined)
      })
      if (concerned.length > 0) await note(...concerned.map(({ id }): Due => ({ kind: 'face', id: String(id) })))
    },

    async noteMarks(userId, ids) {
      const concerned = rows.faces().filter((row) => {
        const { account, watched } = selectionOf(row)
        return row.is_on === 1 && watched !== undefined && account === userId
      })
      if (concerned.length === 0) return
      await note(
        ...(ids.length <= SINGLE_MARKS
          ? ids.map((id): Due => ({ kind: 'video', id }))
          : concerned.map(({ id }): Due => ({ kind: 'face', id: String(id) }))),
      )
    },

    async noteReplaced() {
      await ledger.write(rows.forgetStamps)
      await note(ALL)
    },

    async add(face) {
      mustBeUsable(face)
      const root = await checkedRoot(face.root, rows.faces())
      const mark = randomUUID()
      await writeMark(root, mark)
      await tryLink(root).catch(async (thrown: unknown) => {
        await rm(join(root, MARK), { force: true })
        throw thrown
      })
      const id = await ledger.write(() => {
        const all = rows.faces()
        if (all.length >= MOST_FACES)
          throw errors.conflict(
            say`There are already ${{ most: MOST_FACES }} folders for media servers; remove one first`,
          )
        if (all.some((one) => overlap(one.root, root)))
          throw errors.conflict('This folder has just been added by another request')
        return rows.addFace({ ...columnsOf(face), root, mark, created_at: epochSeconds(app.clock) })
      })
      await note({ kind: 'face', id: String(id) })
      return surely(id)
    },

    async change(id, change) {
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      await ledger.write(() => {
        const before = surely(id)
        const next = { ...inputOf(before), ...given }
        // A face whose account or group was removed can still be renamed and switched off.
        if (['form', 'template', 'selection'].some((key) => key in given)) mustBeUsable(next)
        rows.changeFace({ ...before, ...columnsOf(next) })
      })
      await note({ kind: 'face', id: String(id) })
      return surely(id)
    },

    async accept(id) {
      const row = surely(id)
      await writeMark(row.root, row.mark)
      await note({ kind: 'face', id: String(id) })
    },

    async preview({ root, form, template = DEFAULT_TEMPLATE, selection }) {
      mustBeUsable({ form, template, selection })
      const filters = filterOf(withMembers(selection, app), app)
      const sort = [{ by: 'published', order: 'desc' } as const]
      const { hits } = await app.videos.collection.find({
        filter: { and: filters },
        sort,
        size: SHOWN,
        withoutTexts: true,
      })
      const docs = await app.videos.collection.getMany(hits.map(({ id }) => id))
      const paths: string[] = []
      for (const video of docs.values()) {
        const channel = await app.channels.get(video.channel_id)
        if (!channel) continue
        const source = {
          ...{ video, channel, isPlaced: false, artOf: () => '', subtitleOf: () => '' },
          film: video.media_url,
          number: await likelyNumberOf(video),
        }
        const path = mainPath(unitFor(form, template, source))
        if (path !== undefined) paths.push(path)
      }
      if (root === '') return { paths }
      try {
        const own = rows.faces().filter((one) => one.root !== root)
        const folder = await checkedRoot(root, own)
        const there = (await real(folder)) ?? dirname(folder)
        return { paths, link: await tryLink((await real(there)) === undefined ? app.settings.dataDir : there) }
      } catch (thrown) {
        return { paths, reason: wordsOf(thrown) }
      }
    },

    async follow(signal) {
      const failed = new Set<number>()
      for (let due = rows.due(MOST_DUE); due.length > 0; due = rows.due(MOST_DUE)) {
        const isWhole = ({ id }: FaceRow) => due.some((one) => one.kind === 'face' && ['', String(id)].includes(one.id))
        const single = due.filter(({ kind }) => kind !== 'face')
        for (const row of rows.faces().filter((one) => one.is_on === 1 && !failed.has(one.id))) {
          if (!isWhole(row) && single.length === 0) continue
          const isDone = isWhole(row)
            ? await renderOne(row, { signal, progress: () => undefined })
            : await within(row, false, signal, (run) => followIn(run, single))
          if (!isDone) failed.add(row.id)
        }
        await ledger.write(() => due.forEach(rows.dropDue))
      }
      if (failed.size === 0) return
      await ledger.write(() => failed.forEach((id) => rows.noteDue({ kind: 'face', id: String(id) })))
      throw errors.unavailable('A folder for media servers could not be updated; the update will be retried')
    },

    async renderAll(job, id) {
      for (const row of rows.faces())
        if (row.is_on === 1 && (id === undefined || row.id === id)) await renderOne(row, job)
      await servers.noteLists()
    },

    async clear(id, signal) {
      const row = surely(id)
      await mustBeThere(row)
      const { changes, state } = await withHand(signal, async (hand) => {
        const run = beginRun(app, row, hand, signal)
        await render.clear(run)
        return run
      })
      await rm(join(row.root, MARK), { force: true })
      await ledger.write(() => rows.removeFace(id))
      await servers.tell(row, changes, state.changed > changes.length)
      await servers.noteLists()
    },
  }
}
