/** Restores entries of the bin, or deletes them permanently. Every step can be repeated; the row is removed last. */
import { chunksOf, errors, isAppError, type JobContext, say, wordsOf } from 'archivolt'
import type { PlaylistBelongings } from '../playlist/playlist-belongings.ts'
import type { Belongings } from '../video/types.ts'
import type { App } from './app.ts'
import { damagedRecord, readChannel, videoIn } from './records.ts'
import { filesOf, type Row, type Rows } from './rows.ts'
import { emptyBin, restoreFromBin } from './tasks.ts'
import type { Chosen } from './types.ts'

/** Number of entries that are restored together; a removal moves as many into one folder. */
const TOGETHER = 100
const READ = 500
/** Number of records that are read concurrently, because each read waits for the disk. */
const RECORDS = 16

const NO_FILE = 'Its file is no longer in the bin'
const IN_ARCHIVE = 'It is in the archive again: remove it there first'

/** The task that processes entries in the other state. */
const OTHER = { restoring: emptyBin, emptying: restoreFromBin } as const

const idsOf = (some: readonly Row[]): string[] => some.map((row) => row.video_id)

type Job = Pick<JobContext<object>, 'step' | 'signal' | 'progress'>

export type Leaving = ReturnType<typeof openLeaving>

export function openLeaving(app: App, rows: Rows) {
  const { media, videos, channels } = app
  const { binned } = media

  const mark = (ids: readonly number[], state: keyof typeof OTHER): Promise<Row[]> =>
    rows.mark(ids, state, () => app.jobs.active(OTHER[state].name) === undefined)

  /** Processes the entries in the order of their ids, and those in the same folder together. */
  async function each(chosen: Chosen, signal: AbortSignal, work: (some: Row[]) => Promise<void>): Promise<void> {
    for (let some = rows.after(chosen, 0, READ); some.length > 0; some = rows.after(chosen, some.at(-1)!.id, READ)) {
      for (const trash of new Set(some.map((row) => row.trash)))
        for (const part of chunksOf(
          some.filter((row) => row.trash === trash),
          TOGETHER,
        )) {
          signal.throwIfAborted()
          await work(part)
        }
    }
  }

  async function restore(chosen: Chosen, { step, signal }: Job): Promise<void> {
    // Playlists come first, so that videos return to their positions in them.
    for (const id of rows.playlists(chosen)) {
      signal.throwIfAborted()
      for (const row of rows.after({ entries: [id] }, 0, 1))
        await step('bin.playlist', () => orRefuse(row, () => restorePlaylist(row)))
    }
    await each(chosen, signal, async (part) => {
      for (const row of part.filter(({ kind }) => kind === 'channel'))
        await step('bin.channel', () => orRefuse(row, () => restoreChannel(row)))
      const some = part.filter(({ kind }) => kind === 'video')
      const held = some.map((row) => ({ id: row.video_id, channelId: row.channel_id }))
      if (some.length > 0) await videos.exclusiveAll(held, () => restoreVideos(some, step))
      // `all` restores only videos that the archive lacks; replaced films are restored one by one.
      for (const row of 'all' in chosen ? [] : part.filter(({ kind }) => kind === 'film'))
        await step('bin.film', () => videos.exclusive(row.video_id, () => orRefuse(row, () => restoreFilm(row))))
    })
  }

  /** Restores a replaced film; the present film is moved to the bin instead. */
  async function restoreFilm(row: Row): Promise<void> {
    const { id, trash, video_id: videoId, channel_id: channelId } = row
    if (!(await videos.known([videoId])).has(videoId))
      throw errors.conflict('Its video is not in the archive: restore or add the video first')
    if (!media.isOurs(videoId))
      throw errors.conflict('The current file of this video is in a folder of another program')
    const of = { channelId, videoId }
    const [text] = await binned.read(trash, [of])
    const film = await binned.filmIn(trash, of)
    const isBegun = row.state === 'restoring'
    if (film === undefined && !isBegun) throw errors.conflict(NO_FILE)
    // If the record is missing, an earlier run has reached its last step.
    const was = text === undefined && isBegun ? undefined : videoIn(app, text, videoId).video
    const [marked] = await mark([id], 'restoring')
    if (!marked) return
    if (was) await videos.giveBackFilm(was, film)
    await end([marked])
  }

  async function restorePlaylist({ id, video_id: playlistId, state, record }: Row): Promise<void> {
    if (state !== 'restoring' && (await app.playlists.exists(playlistId))) throw errors.conflict(IN_ARCHIVE)
    const [row] = await mark([id], 'restoring')
    if (!row) return
    const playlist = app.ledger.json<PlaylistBelongings | undefined>(
      record ?? '',
      `bin_entry.record of ${id}`,
      undefined,
    )
    if (!playlist) throw damagedRecord(playlistId)
    await app.playlists.restoreBelongings(playlist)
    await rows.remove([id])
  }

  async function restoreChannel({ id, trash, channel_id: channelId }: Row): Promise<void> {
    await binned.mustReach(channelId)
    const [row] = await mark([id], 'restoring')
    if (!row) return
    await channels.giveBack(channelId, await readChannel(app, trash, channelId))
    await binned.putBackRest(trash, channelId)
    await end([row])
  }

  async function restoreVideos(some: readonly Row[], step: Job['step']): Promise<void> {
    const [first] = some
    const trash = first!.trash
    const there = await videos.known(idsOf(some))
    const begun = new Set(some.filter(({ state }) => state === 'restoring').map(({ id }) => id))
    const ready = new Map<Row, Belongings>()
    const done: Row[] = []
    const inTheWay = await binned.inTheWay(trash, filesOf(some))
    const prepare = async (row: Row, text: string | undefined) => {
      const isThere = there.has(row.video_id)
      if (isThere && begun.has(row.id) && text === undefined)
        done.push(row) // an earlier run has reached its last step
      else if (isThere && !begun.has(row.id)) await rows.refuse(row.id, IN_ARCHIVE)
      else await orRefuse(row, async () => void ready.set(row, await prepared(row, text, inTheWay.get(row.video_id))))
    }
    for (const few of chunksOf(some, RECORDS)) {
      const texts = await binned.read(trash, filesOf(few))
      await Promise.all(few.map((row, at) => prepare(row, texts[at])))
    }
    const marked = await mark(
      [...ready.keys()].map(({ id }) => id),
      'restoring',
    )
    const going = [...ready].filter(([row]) => marked.some(({ id }) => id === row.id))
    const goingRows = going.map(([row]) => row)
    if (going.length > 0) {
      // All files first, then all documents at once, because a write of the index costs more than the documents in it.
      for (const row of new Map(goingRows.map((one) => [one.channel_id, one])).values()) await needChannel(row)
      await step('bin.files', () => binned.putBack(trash, filesOf(goingRows)))
      await step('bin.documents', () => videos.giveBack(new Map(going.map(([row, told]) => [row.video_id, told]))))
    }
    const back = [...goingRows, ...done]
    if (back.length === 0) return
    // Events for plugins are rows, so that events that are emitted together share a transaction.
    await Promise.all(back.map((row) => app.emit('video.restored', { id: row.video_id, channelId: row.channel_id })))
    await step('bin.end', () => end(back))
  }

  /** @param text  the record of the video @throws the reason why the video cannot be restored */
  async function prepared(row: Row, text: string | undefined, inTheWay: string | undefined): Promise<Belongings> {
    const { video_id: videoId, channel_id: channelId } = row
    await binned.mustReach(channelId)
    const told = videoIn(app, text, videoId)
    if (inTheWay !== undefined)
      throw errors.conflict(
        say`Another file ${{ file: inTheWay }} is already in the library: move it away, then try again`,
      )
    const { film } = told
    // A failed deletion may already have deleted the film.
    if (row.state === 'emptying' && !film && !(await binned.filmIn(row.trash, { channelId, videoId })))
      throw errors.conflict(NO_FILE)
    if (!film) return told
    const placeId = await media.places.placeWith(film)
    if (placeId === undefined)
      throw errors.conflict(
        say`Its file ${{ file: film.path }} is in a folder that was removed from the archive: add that folder again, then try again`,
      )
    await media.places.trash.restore(videoId)
    return { ...told, film: { ...film, placeId } }
  }

  /** Restores the channel of a video from the channel's own entry, otherwise from its known name. */
  async function needChannel(row: Row): Promise<void> {
    const { channel_id: channelId } = row
    if ((await channels.known([channelId])).has(channelId)) return
    const entry = rows.channel(channelId)
    const isBack = entry && (await orRefuse(entry, () => restoreChannel(entry)))
    if (!isBack) await channels.recordName(channelId, row.channel_name || channelId)
  }

  /** @returns false: the entry stays in the bin, and the reason was stored */
  async function orRefuse(row: Row, work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (thrown) {
      if (!isAppError(thrown)) throw thrown
      await rows.refuse(row.id, wordsOf(thrown))
      return false
    }
  }

  async function empty(chosen: Chosen, { step, signal }: Job): Promise<number> {
    let count = 0
    await each(chosen, signal, async (part) => {
      const going = await mark(
        part.map(({ id }) => id),
        'emptying',
      )
      if (going.length === 0) return
      const held = going.map((row) => ({ id: row.video_id, channelId: row.channel_id }))
      await videos.exclusiveAll(held, async () => {
        await step('bin.unlink', () => unlink(going))
        await step('bin.end', () => end(going))
      })
      count += going.length
    })
    return count
  }

  async function unlink(going: readonly Row[]): Promise<void> {
    const gone = going.filter(({ kind }) => kind === 'video')
    const ids = idsOf(gone)
    const withFiles = going.filter(({ kind }) => kind === 'video' || kind === 'film')
    if (withFiles.length > 0) await binned.drop(withFiles[0]!.trash, filesOf(withFiles))
    const otherwise = rows.otherwiseIn(
      ids,
      gone.map(({ id }) => id),
    )
    await media.places.trash.drop(ids.filter((id) => !otherwise.has(id)))
    // Keeps the picture of a video that was added again, or is in the bin a second time.
    const needed = new Set([...(await videos.known(ids)), ...otherwise])
    const lost = ids.filter((id) => !needed.has(id))
    for (const id of lost) await media.removeArt('video', id)
    // Custom playlists that were restored earlier still contain these videos.
    if (lost.length > 0) await app.playlists.forgetVideos(lost)
    for (const { kind, video_id: id } of going)
      if (kind === 'playlist' && !(await app.playlists.exists(id))) await media.removeArt('playlist', id)
    for (const { kind, channel_id: channelId } of going)
      if (kind === 'channel' && !(await channels.known([channelId])).has(channelId)) await channels.removeArt(channelId)
  }

  /** Deletes the records, then, with the last of them, the whole folder, then the rows. */
  async function end(some: readonly Row[]): Promise<void> {
    const ids = some.map(({ id }) => id)
    const { trash } = some[0]!
    if (!rows.hasOthers(trash, ids)) await media.emptyTrash(trash)
    else
      await binned.dropRecords(
        trash,
        some.map(({ kind, channel_id: channelId, video_id: videoId }) =>
          kind === 'channel' ? { channelId } : { channelId, videoId },
        ),
      )
    await rows.remove(ids)
  }

  return { restore, empty }
}
